// The what-if figure: what the theory predicts for a plan and the numbers of the sliders, beside what a race has measured. It
// computes in the browser, so that it follows a slider at once; what was there before anything moved stays as a ghost.

import { startChart } from "./chart.js";
import { axisEnd, curvesOf, modelOf, restOf } from "./curves.js";
import { stagesOf } from "./prediction.js";
import { RANGE, describeSource, factor, finding, headline, tellBetter, tellGaps, tellOver, tellWhose } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const LONGEST = 64; // of K, see csd/decoding/k_matrix.py

// A value is {drafts, roles, isMeasured, wasStopped, measured: [{name, speedup, tokens, rest, at, predicted, gap, about}], start: {draft, k, K, sliders}, draft, k, K, sliders}:
// `roles` are those of the drafts by name, and `start` is what the knobs were set to, by the race or to usual numbers. `parseK` is that of controls/cumulative.js;
// `ask({draft, k, K, sliders})` is called with the way back, and with the plan of a place of the chart. Returns a function that
// shows another value.
export function startWhatIf(root, value, parseK, ask) {
  const view = { start: null, given: "", K: null, now: null, top: 0, ...build(root, (x) => ask(withLength(view.now, x))) };
  view.back.addEventListener("click", () => ask(view.start));
  const show = (next) => {
    if (next?.start?.sliders.groups.length) update(view, next, parseK);
  };
  show(value);
  return show;
}

// The same with a first drafter that writes up to position `x`; those after it write as many as before, as far as K goes.
export function withLength({ draft, k, K, sliders }, x) {
  const first = K[0].findIndex((end) => end > 0);
  const row = K[0].map((end, c) => (c < first ? end : Math.min(LONGEST, end + x - K[0][first])));
  return { draft, k, K: JSON.stringify([row, ...K.slice(1)]), sliders };
}

function build(root, pick) {
  const [opens, number, rest] = [make("span", ""), make("b", "finding-speed"), make("span", "")];
  const told = document.createElement("h2");
  told.append(opens, " ", number, " ", rest);
  const words = make("div", "finding-words", told);
  const whose = make("p", "whatif-whose");
  const box = make("div", "finding", words, whose);
  const chart = make("div", "chart");
  chart.toggleAttribute("data-fills", true);
  const [source, raced, range, ghost] = ["predicted", "measured", "range", "before"].map((kind) => {
    const line = make("span", "");
    line.dataset.kind = kind;
    return line;
  });
  range.textContent = RANGE;
  raced.textContent = "measured"; // the filled symbols; the open ones lie on the dashed lines
  const back = make("button", "whatif-back");
  back.type = "button";
  const [better, gaps] = [make("p", "whatif-better"), make("p", "whatif-gaps")];
  words.setAttribute("aria-live", "polite");
  root.replaceChildren(box, make("div", "whatif-key", make("p", "", source, raced, range, ghost), back), chart, better, gaps);
  return { told, opens, number, rest, whose, source, range, raced, better, gaps, ghost, back, show: startChart(chart, pick) };
}

function update(view, value, parseK) {
  const { drafts, draft, k, sliders, measured } = value;
  const given = JSON.stringify(value.start);
  if (given !== view.given) Object.assign(view, { given, top: 0, start: { ...value.start, K: value.start.K ?? value.K ?? view.K } });
  const { start } = view;
  const K = parseK(value.K ?? start.K, drafts.length + 1);
  if (!K || !isLength(k) || !drafts.includes(draft)) return; // the page says what is wrong
  view.K = value.K ?? start.K; // stays for a race that had none
  view.now = { draft, k, K, sliders };
  const length = Math.max(0, ...measured.map(({ tokens }) => tokens));
  const curves = curvesOf(drafts, draft, k, K, modelOf(sliders), length);
  const first = parseK(start.K, drafts.length + 1) ?? K;
  const before = curvesOf(drafts, start.draft, start.k, first, modelOf(start.sliders));
  const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const isMoved = {
    plan: !isSame([draft, k, K], [start.draft, start.k, first]),
    numbers: !isSame(modelOf(sliders), modelOf(start.sliders)),
  };
  const speeds = [...curves, ...before].flatMap(({ ys, range }) => [...ys, ...(range ?? [])]);
  view.top = Math.max(view.top, axisEnd([...speeds, ...measured.map(({ speedup }) => speedup)]));
  const isOnCurve = ({ name, rest }) => (name === "speculative" ? rest === draft
    : restOf(drafts, parseK(rest, drafts.length + 1)) === restOf(drafts, K));
  const points = measured.filter((one) => one.at && one.at <= curves[0].xs.length && isOnCurve(one));
  const levels = measured.filter(({ at }) => !at);
  const isAway = isMoved.plan || isMoved.numbers;
  view.show({
    title: headline(curves), xTitle: tellOver(stagesOf(drafts, K), draft, value.roles), xs: curves[0].xs, top: view.top,
    curves, ghosts: isAway ? before : [],
    points: points.map(({ name, at, speedup }) => ({ look: name, x: at, y: speedup })),
    levels: levels.map(({ name, speedup }) => ({ look: name, name: "adaptive", y: speedup, note: `measured ${factor(speedup)}` })),
  });
  view.told.title = `Cascade, K=${JSON.stringify(K)}`;
  const { opens, speed, rest, wins } = finding(curves);
  view.opens.textContent = opens;
  view.number.textContent = speed;
  view.rest.textContent = rest;
  view.told.toggleAttribute("data-wins", wins);
  const isRaced = measured.some(({ name, rest }) => name === "cascade" && isSame(parseK(rest, drafts.length + 1), K));
  view.whose.textContent = tellWhose(measured, isRaced);
  view.better.textContent = tellBetter(curves);
  view.source.textContent = describeSource(value, isMoved);
  view.range.hidden = !length;
  view.raced.hidden = !points.length;
  view.gaps.textContent = tellGaps([...points, ...levels], isAway || !value.isMeasured);
  view.ghost.textContent = "before";
  view.ghost.hidden = !isAway;
  view.back.textContent = value.isMeasured ? "Back to the race" : "Back to the usual numbers";
  view.back.toggleAttribute("data-away", isAway);
  view.back.disabled = !isAway;
}

const isLength = (k) => Number.isInteger(k) && k >= 1 && k <= 64;

function make(tag, kind, ...children) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...children);
  return element;
}
