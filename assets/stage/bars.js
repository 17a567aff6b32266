// The bar of a lane: every pass of the target is one jump towards the finish.

import { h, s } from "./dom.js";
import { levelMarks, levelOf } from "./log.js";
import { createPhoto } from "./photofinish.js";

const HEIGHT = 100; // of a bar, in the units of its drawing
const COUNTABLE = 136; // tokens of a bar that can be told apart
const GAPS = 220; // gaps between jumps that a bar is as long as

export function createBar() {
  const [written, pending] = ["cs-written", "cs-pending"].map((name) =>
    s("svg", { class: `cs-bar-svg ${name}`, preserveAspectRatio: "none", "aria-hidden": "true" }));
  const photo = createPhoto();
  const ran = h("div", { class: "cs-ran" }, written); // clips it at the lane's position
  const frame = h("i", { class: "cs-frame", "data-look": "T", hidden: true });
  return { written, photo, pending, ran, frame, box: h("div", { class: "cs-lane-bar" }, pending, ran, frame, photo.count), drawn: "", waits: "" };
}

// Draws what has come since; `end` is the tokens at the finish.
export function drawBar(race, bar, lane, end) {
  const key = `${lane.steps.length} ${end}`;
  if (key === bar.drawn) return;
  bar.drawn = key;
  fill(race, bar.written, end, shapesOf(race, lane, end));
}

// Shows a bar as far as its lane is.
export function clipBar({ ran }, { lane, shown, state }, end) {
  const step = lane.steps[shown - 1];
  const left = state === "done" ? 0 : 100 - (100 * (step ? step.count : 0)) / end;
  ran.style.clipPath = `inset(0 ${left.toFixed(2)}% 0 0 round 5px)`;
}

// Draws the guesses beyond what the lane has written: pale, with a frame around those that are being checked. Each can be counted where
// they stand `apart`, in full colour where it is among the first `sure`, and struck out from the guess `struck` on: see opening.js.
export function drawPending(race, bar, { cells, from }, end, { apart, sure, struck, framed }) {
  const key = `${from} ${end} ${apart} ${sure} ${struck} ${framed} ${cells.map(({ who }) => who).join(" ")}`;
  if (key === bar.waits) return;
  bar.waits = key;
  const looks = cells.map(({ who }) => levelOf(race, who).look);
  fill(race, bar.pending, end, apart ? [] : runsOf(looks, from, end <= COUNTABLE).map((run) => ({ ...run, wide: run.to - run.from - hairAt(end) })));
  if (apart) bar.pending.append(...looks.flatMap((look, j) => guessCell(look, from + j, j, end, { isSure: j < sure, isStruck: j >= struck })));
  bar.frame.hidden = !framed;
  if (bar.frame.hidden) return;
  bar.frame.style.setProperty("--from", `${round((100 * from) / end)}%`);
  bar.frame.style.setProperty("--wide", `${round((100 * (framed - hairAt(end))) / end)}%`);
}

function guessCell(look, at, j, end, { isSure, isStruck }) {
  const wide = 1 - hairAt(end);
  const cell = s("path", { "data-look": look, class: isSure ? "cs-sure" : isStruck ? "cs-struck" : null, d: boxPath(at, wide), style: `--j: ${j}` });
  return isStruck ? [cell, s("path", { class: "cs-strike", d: `M${round(at)} ${HEIGHT / 2}h${round(wide)}` })] : [cell];
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

// A block for each token, or for each run of tokens of one author where they are too many to be counted, with a gap before the next jump
// and a hair before the next block. A step whose reviewer added no token, as the text ends there, has a line in its colour: each of its
// runs can be counted.
function shapesOf(race, lane, end) {
  const gap = gapAt(end);
  return lane.steps.flatMap((step) => {
    const looks = lane.tokens.slice(step.from, step.count).map(({ level }) => level.look);
    const { look: reviewer } = levelOf(race, step.line.r.by);
    const last = looks.at(-1) === reviewer ? [] : [{ look: reviewer, from: step.count - 2 * gap, wide: gap }];
    const blocks = runsOf(looks, step.from, end <= COUNTABLE).map(({ look, from, to }) => ({ look, from, wide: to - from - (to === step.count ? gap : hairAt(end)) }));
    return [...blocks, ...last];
  });
}

const gapAt = (end) => Math.min(0.35, end / GAPS);
const hairAt = (end) => gapAt(end) / 3; // between tokens of one jump

// Looks of tokens from one on, as runs of one look, or each by itself where they stand `apart`: [{look, from, to}].
function runsOf(looks, start, apart) {
  const runs = [];
  looks.forEach((look, j) => {
    const last = runs[runs.length - 1];
    if (!apart && last && last.look === look) last.to = start + j + 1;
    else runs.push({ look, from: start + j, to: start + j + 1 });
  });
  return runs;
}
