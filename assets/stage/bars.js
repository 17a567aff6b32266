// The bar of a lane, drawn twice: over tokens, where every pass of the target is one jump towards the finish, and over time,
// where every part is as long as it took. axis.js decides which of them is seen.

import { h, s } from "./dom.js";
import { levelMarks, levelOf, OVERHEAD } from "./log.js";
import { createPhoto } from "./photofinish.js";

const HEIGHT = 100; // of a bar, in the units of its drawing
const GAPS = 220; // gaps between jumps that a bar is as long as

export function createBar() {
  const [tokens, time] = ["tokens", "time"].map((axis) =>
    s("svg", { class: `cs-bar-svg cs-by-${axis}`, preserveAspectRatio: "none", "aria-hidden": "true" }));
  const photo = createPhoto();
  const pending = s("svg", { class: "cs-bar-svg cs-by-tokens cs-pending", preserveAspectRatio: "none", "aria-hidden": "true" });
  const ran = h("div", { class: "cs-ran" }, tokens, time); // clips them at the lane's position
  return { tokens, time, photo, pending, ran, box: h("div", { class: "cs-lane-bar" }, pending, ran, photo.count), drawn: "", waits: "" };
}

// Draws what has come since. `ends` are those of the axes: {tokens, seconds}; until the race is over, seconds is 0.
export function drawBar(race, bar, lane, ends) {
  const key = `${lane.steps.length} ${ends.tokens} ${ends.seconds}`;
  if (key === bar.drawn) return;
  bar.drawn = key;
  fill(race, bar.tokens, ends.tokens, tokenShapes(race, lane, ends.tokens));
  if (!ends.seconds) return bar.time.replaceChildren();
  fill(race, bar.time, ends.seconds, timeShapes(race, lane, ends.seconds));
  bar.box.style.setProperty("--cs-share", Math.max(lane.decodeSeconds / ends.seconds, 0.001).toFixed(4));
}

// Shows a bar as far as its lane is. A whole bar is not clipped: it may be turning into the other one.
export function clipBar({ ran }, { lane, shown, seconds, state }, axis, ends) {
  const step = lane.steps[shown - 1];
  const tokens = step ? step.count : 0;
  const done = axis === "time" ? decodedSeconds(lane, seconds) / ends.seconds : tokens / ends.tokens;
  const left = state === "done" ? 0 : 100 - 100 * done;
  ran.style.clipPath = `inset(0 ${left.toFixed(2)}% 0 0 round 5px)`;
}

// Draws the guesses beyond what the lane has written: pale, and in one frame while the target checks them.
export function drawPending(race, bar, guesses, end) {
  const { cells, from, isChecked } = guesses;
  const key = `${from} ${end} ${cells.map(({ who }) => who).join(" ")}`;
  bar.pending.toggleAttribute("data-checked", isChecked);
  if (key === bar.waits) return;
  bar.waits = key;
  const looks = cells.map(({ who }) => levelOf(race, who).look);
  fill(race, bar.pending, end, runsOf(looks, from).map((run) => ({ ...run, wide: run.to - run.from - gapAt(end) / 4 })));
  bar.pending.append(s("path", { class: "cs-frame", d: cells.length ? boxPath(from, cells.length - gapAt(end)) : "" }));
}

// Seconds of decoding up to a time on the lane's clock.
function decodedSeconds(lane, seconds) {
  const [first] = lane.steps;
  return first ? Math.max(0, Math.min(lane.decodeSeconds, seconds - first.line.c)) : 0;
}

// One path per level, so that a long race has few nodes.
function fill(race, svg, end, shapes) {
  const paths = new Map(levelMarks(race).map(({ look }) => [look, []]));
  for (const { look, from, wide } of shapes) paths.get(look).push(boxPath(from, wide));
  svg.setAttribute("viewBox", `0 0 ${end} ${HEIGHT}`);
  svg.replaceChildren(...[...paths].filter(([, parts]) => parts.length)
    .map(([look, parts]) => s("path", { "data-look": look, d: parts.join("") })));
}

const boxPath = (from, wide) => `M${round(from)} 0h${round(wide)}v${HEIGHT}h-${round(wide)}z`;

function round(value) {
  return Number(value.toPrecision(5));
}

// A block for each run of tokens of one author, with a gap before the next jump and a hair before the next block. A step whose
// reviewer added no token, as the text ends there, has a line in its colour: each of its runs can be counted.
function tokenShapes(race, lane, end) {
  const gap = gapAt(end);
  return lane.steps.flatMap((step) => {
    const looks = lane.tokens.slice(step.from, step.count).map(({ level }) => level.look);
    const { look: reviewer } = levelOf(race, step.line.r.by);
    const last = looks.at(-1) === reviewer ? [] : [{ look: reviewer, from: step.count - 2 * gap, wide: gap }];
    const blocks = runsOf(looks, step.from).map(({ look, from, to }) => ({ look, from, wide: to - from - (to === step.count ? gap : gap / 4) }));
    return [...blocks, ...last];
  });
}

const gapAt = (end) => Math.min(0.35, end / GAPS);

// Looks of tokens from one on, as runs of one look: [{look, from, to}].
function runsOf(looks, start) {
  const runs = [];
  looks.forEach((look, j) => {
    const last = runs[runs.length - 1];
    if (last && last.look === look) last.to = start + j + 1;
    else runs.push({ look, from: start + j, to: start + j + 1 });
  });
  return runs;
}

// A step as the time of each of its levels, the target last; its overhead is left blank, and at least a hair of it, which is
// thinner where steps are short.
function timeShapes(race, lane, end) {
  const hair = end / GAPS / 2;
  return lane.steps.flatMap((step) => {
    let from = step.decodeSeconds - step.line.d;
    const until = step.decodeSeconds - Math.min(hair, step.line.d / 8);
    return levelMarks(race).flatMap(({ mark, look }) => {
      const seconds = step.seconds.get(mark) || 0;
      const wide = Math.min(seconds, until - from);
      const shape = wide > 0 ? [{ look, from, wide }] : [];
      from += seconds;
      return shape;
    });
  });
}
