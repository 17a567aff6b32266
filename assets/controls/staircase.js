// K as a picture: a row for each reviewer, and in it a bar for each drafter, as long as what it writes. The ends of the
// bars can be dragged, or moved with the arrow keys.

import { ablate, axisLength, budget, formatK, isSamePlan, moveEnd, parseK, takesPart } from "./cumulative.js";
import { make } from "./elements.js";
import { listPlan, planRows } from "./plan.js";

const [WIDE, NARROW] = [34, 18]; // pixels that a handle takes, with its number and without
const PARTS = [["both", "both cascades"], ["vertical", "vertical only"], ["horizontal", "horizontal only"], ["lookup", "copying only"]];
const WHOLE = { // why a part is all that the plan has
  vertical: "Vertical only is this whole plan: each reviewer asks one level.",
  horizontal: "Horizontal only is this whole plan: every level writes without help.",
  lookup: "Copying only is this whole plan.",
};
const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 4, PageDown: -4, Home: -1000, End: 1000 };

// Draws into `root`, below a list that says the same; with `data-fold` the picture is folded away under these words.
// `send(K as text)` is called whenever the visitor changes K. Returns a function that takes a new
// value: {K, target (its role), levels: [{role, look}]}, with the drafts from the strongest on and Max-Gram last; K null leaves it as it is.
export function startStaircase(root, value, send) {
  const view = { root, send, levels: [], K: null, full: null, length: 24, tracks: [] };
  const show = (given) => {
    if (!given) return;
    const isNew = JSON.stringify(given.levels) !== JSON.stringify(view.levels);
    const K = parseK(given.K ?? (view.K && formatK(view.K)), given.levels.length);
    root.toggleAttribute("data-wrong", !K);
    if (!K || (!isNew && view.K && formatK(K) === formatK(view.K))) return;
    view.levels = given.levels;
    view.target = given.target;
    if (isNew || !isAblation(view.full, K)) view.full = K;
    view.K = K;
    view.length = axisLength(K);
    if (isNew) build(view);
    draw(view);
  };
  new ResizeObserver(() => view.K && draw(view)).observe(root);
  show(value);
  return show;
}

const isAblation = (full, K) => full && PARTS.some(([part]) => formatK(ablate(full, part)) === formatK(K));

function change(view, K) {
  if (formatK(K) === formatK(view.K)) return;
  view.K = K;
  draw(view);
  view.send(formatK(K));
}

function build(view) {
  const { root, levels } = view;
  const parts = PARTS.map(([part, label]) => {
    const button = make("button", { type: "button", "data-part": part }, label);
    button.addEventListener("click", () => {
      settle(view, ablate(view.full, part));
    });
    return button;
  });
  const reviewers = [{ role: view.target }, ...levels.slice(0, -1)];
  view.tracks = reviewers.map((reviewer, r) => buildTrack(view, reviewer, r));
  view.whole = make("p", { class: "staircase-whole" });
  view.axis = make("div", { class: "staircase-axis", "aria-hidden": "true" });
  view.words = make("dl", { class: "staircase-words" });
  const picture = [
    make("div", { class: "staircase-parts", role: "group", "aria-label": "Parts of the cascade" }, ...parts),
    make("div", { class: "staircase-rows" }, ...view.tracks.flatMap((track) => [track.name, track.box]),
      make("span", { class: "staircase-unit" }, "position"), view.axis),
    view.whole, // below what is dragged, which keeps its place
  ];
  const { fold } = root.dataset;
  const isOpen = root.querySelector("details")?.open;
  root.replaceChildren(view.words, ...(fold ? [make("details", { open: isOpen }, make("summary", {}, fold), ...picture)] : picture));
  view.parts = parts;
}

function buildTrack(view, reviewer, r) {
  const columns = view.levels.slice(r);
  const bars = columns.map((level) => make("span", { class: "staircase-bar", "data-look": level.look }));
  const handles = columns.map((level, i) => buildHandle(view, reviewer.role, r, r + i, level));
  const last = make("span", { class: "staircase-last", "aria-hidden": "true" }); // of the last drafter, where its bar is too short
  const name = make("span", { class: "staircase-name" }, make("b", {}, reviewer.role), make("small", {})); // the style sheet says there that nobody asks it
  return { name, role: reviewer.role, bars, handles, last, box: make("div", { class: "staircase-track" }, ...bars, last, ...handles) };
}

function buildHandle(view, reviewer, r, c, level) {
  const handle = make("span", {
    class: "staircase-handle", "data-look": level.look, role: "slider", tabindex: "0",
    "aria-label": `${level.role} writes for the ${reviewer} up to position`, "aria-valuemin": "0", "aria-valuemax": "64",
  });
  handle.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    view.full = moveEnd(view.K, r, c, view.K[r][c] + step);
    settle(view, view.full);
  });
  handle.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.preventDefault();
    handle.focus();
    handle.setPointerCapture(event.pointerId);
    drag(view, handle, r, c, event.clientX);
  });
  return handle;
}

// Follows the pointer until it is released. The axis keeps its length meanwhile, and ends that were pushed away come
// back when the pointer does.
function drag(view, handle, r, c, from) {
  const start = view.K;
  const scale = view.length / handle.parentElement.clientWidth;
  const move = (event) => {
    view.full = moveEnd(start, r, c, start[r][c] + (event.clientX - from) * scale);
    change(view, view.full);
  };
  const end = () => {
    handle.removeEventListener("pointermove", move);
    handle.removeEventListener("lostpointercapture", end);
    settle(view, view.K);
  };
  handle.addEventListener("pointermove", move);
  handle.addEventListener("lostpointercapture", end);
}

// A change after which the axis may get another length.
function settle(view, K) {
  view.length = axisLength(K);
  change(view, K);
  draw(view);
}

function draw(view) {
  const { K, length, levels } = view;
  const active = takesPart(K);
  view.words.replaceChildren(...listPlan(planRows(K, view.target, levels)));
  view.tracks.forEach((track, r) => {
    const width = track.box.clientWidth;
    track.box.toggleAttribute("data-idle", !active[r]);
    track.name.toggleAttribute("data-idle", !active[r]);
    track.name.title = active[r] ? "" : "takes no part: nobody asks it";
    let free = -Infinity; // where the next handle may begin
    track.last.textContent = "";
    track.handles.forEach((handle, i) => {
      const c = r + i;
      const tokens = budget(K, r, c);
      const bar = track.bars[i];
      bar.style.left = `${(100 * (K[r][c] - tokens)) / length}%`;
      bar.style.width = `${(100 * tokens) / length}%`;
      const hasRoom = (tokens / length) * width > 9 * levels[c].role.length + 12;
      bar.textContent = hasRoom ? levels[c].role : "";
      if (tokens > 0 && K[r][c] === K[r][K.length - 1]) {
        track.last.textContent = hasRoom ? "" : levels[c].role;
        track.last.style.left = `${(100 * K[r][c]) / length}%`;
      }
      const isEmpty = tokens === 0; // its drafter writes nothing: a ring, whose number is told when it has the focus
      const half = (isEmpty ? NARROW : WIDE) / 2;
      const at = Math.max((width * K[r][c]) / length, free + half);
      free = at + half;
      handle.toggleAttribute("data-empty", isEmpty);
      handle.style.left = `${at}px`;
      handle.textContent = K[r][c];
      handle.setAttribute("aria-valuenow", K[r][c]);
      handle.setAttribute("aria-valuetext", `${K[r][c]}, ${tokens} ${tokens === 1 ? "token" : "tokens"}`);
      handle.dataset.told = `${levels[c].role} for the ${track.role}: ${tokens ? `${tokens} tokens, to position ${K[r][c]}` : "nothing"}`;
      handle.toggleAttribute("data-right", at > 0.35 * width);
    });
  });
  const step = length > 32 ? 16 : 8;
  view.axis.replaceChildren(...Array.from({ length: Math.floor(length / step) + 1 }, (_, i) =>
    make("span", { style: `left: ${(100 * i * step) / length}%` }, String(i * step))));
  const whole = Object.keys(WHOLE).filter((part) => isSamePlan(ablate(view.full, part), view.full));
  view.whole.textContent = whole.map((part) => WHOLE[part]).join(" ");
  for (const button of view.parts) {
    const { part } = button.dataset;
    button.disabled = whole.includes(part);
    button.setAttribute("aria-pressed", String(!button.disabled && formatK(ablate(view.full, part)) === formatK(view.K)));
  }
}
