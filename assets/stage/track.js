// The race track: a row per lane, on which every pass of the target is one jump towards the finish.

import { h, put, s } from "./dom.js";
import { formatRate, formatRatio, formatSeconds } from "./format.js";
import { IDEA } from "./headline.js";
import { laneKey } from "./linestyle.js";
import { levelMarks, levelOf } from "./log.js";
import { selectLane } from "./playback.js";
import { term } from "./terms.js";

const HEIGHT = 100; // of a bar, in the units of its drawing
const GAPS = 220; // gaps between jumps that a bar is as long as
const NONE = "\u2013";
const EVEN = 0.02; // speeds that differ by less are equal

export function createTrack() {
  return {
    box: h("section", { class: "cs-track", "aria-label": "Race track: one jump is one run of the big model" }),
    goal: h("span", { class: "cs-goal" }),
    rows: [], // one per lane, see createRow
    tokens: 0, // at the finish line
  };
}

export function openTrack(stage) {
  const { track, views } = stage;
  track.rows = views.map((view) => createRow(stage, view));
  track.box.replaceChildren(createHead(track), ...track.rows.map((row) => row.box));
  track.tokens = 0;
}

export function clearTrack({ track }) {
  Object.assign(track, { rows: [], tokens: 0 });
  track.box.replaceChildren();
}

// Draws every lane as of the time shown.
export function drawTrack(stage) {
  const { track, race, views, view } = stage;
  const tokens = finishLine(race);
  if (tokens !== track.tokens) {
    track.tokens = tokens;
    put(track.goal, `\u2691 ${tokens} tokens`);
    for (const row of track.rows) row.drawn = 0;
  }
  const reference = views.find((one) => one.lane.info.method === "autoregressive");
  const first = winners(views);
  const longest = Math.max(...views.map(({ lane }) => lane.decodeSeconds));
  track.box.toggleAttribute("data-few", Boolean(race.close && race.close.headline && race.close.headline.few));
  for (const row of track.rows) {
    if (row.drawn !== row.view.lane.steps.length) drawBar(race, track, row);
    drawPosition(track, row);
    drawFigures(row, race, reference, longest);
    row.box.toggleAttribute("data-first", first.has(row.view));
    row.box.classList.toggle("cs-selected", row.view === view && views.length > 1);
  }
}

// The titles of the columns.
function createHead(track) {
  const caption = h("span", { class: "cs-track-caption" },
    h("span", {}, h("span", { class: "cs-idea-again", text: `${IDEA[0]} ` }),
      h("span", { class: "cs-jump" }, h("i", { class: "cs-swatch", "data-look": "T", "aria-hidden": "true" }),
        " ends a ", term("target pass", "run of the big model"))), track.goal);
  return h("div", { class: "cs-track-head" }, h("span"), caption,
    h("span", { class: "cs-runs" }, term("big model")),
    h("span", { class: "cs-clock" }, term("decode time")),
    h("span", { class: "cs-outcome" }, term("speed")));
}

function createRow(stage, view) {
  const { info, index } = view.lane;
  const name = info.label ? `${info.method}, ${info.label}` : info.method;
  const select = h("button", { type: "button", class: "cs-name", "data-term": info.method, "data-exact": name,
                               onclick: () => selectLane(stage, view) },
    laneKey(info), h("span", {}, h("b", { text: info.method }), h("small", { text: info.words })));
  const row = {
    view,
    bar: s("svg", { class: "cs-bar-svg", preserveAspectRatio: "none", "aria-hidden": "true" }),
    ran: h("div", { class: "cs-ran" }), // clips the bar at the lane's position
    drawn: 0, // steps that the bar contains
    runs: h("b"),
    ratio: h("b", { class: "cs-ratio" }),
    rate: h("small", { class: "cs-rate" }),
    clock: h("b"),
    target: h("i", { "data-look": "T" }), // the parts of its time, drawn below it
    rest: h("i"),
  };
  row.parts = h("span", { class: "cs-parts", "data-term": "drafting" }, row.target, row.rest);
  row.ran.append(row.bar);
  row.box = h("div", { class: "cs-track-row", "data-lane": index }, select,
    h("div", { class: "cs-lane-bar" }, row.ran),
    h("span", { class: "cs-runs" }, row.runs),
    h("span", { class: "cs-clock" }, row.clock, row.parts),
    h("span", { class: "cs-outcome" }, row.ratio, row.rate));
  return row;
}

// How many tokens the finish line stands for. All lanes that have ended by themselves wrote the whole text; where none
// has, it stays at what was asked for.
function finishLine(race) {
  const written = Math.max(1, ...race.lanes.map((lane) => lane.tokens.length));
  const ended = race.lanes.some((lane) => lane.end && lane.end !== "stopped");
  return ended ? written : Math.max(written, ...race.open.lanes.map((lane) => lane.max));
}

// One path per level: a block for each run of tokens of one author, with a gap before the next jump and a hair before
// the next block.
function drawBar(race, track, row) {
  const { lane } = row.view;
  const shapes = new Map(levelMarks(race).map(({ look }) => [look, []]));
  const gap = Math.min(0.35, track.tokens / GAPS);
  for (const step of lane.steps) {
    for (const { look, from, to } of blocksOf(lane, step)) {
      const wide = to - from - (to === step.count ? gap : gap / 4);
      shapes.get(look).push(`M${from} 0h${wide.toFixed(3)}v${HEIGHT}h-${wide.toFixed(3)}z`);
    }
  }
  row.drawn = lane.steps.length;
  row.bar.setAttribute("viewBox", `0 0 ${track.tokens} ${HEIGHT}`);
  row.bar.replaceChildren(...[...shapes].filter(([, parts]) => parts.length)
    .map(([look, parts]) => s("path", { "data-look": look, d: parts.join("") })));
}

// The tokens of a step as runs of one look: [{look, from, to}].
function blocksOf(lane, step) {
  const blocks = [];
  for (let i = step.from; i < step.count; i++) {
    const { look } = lane.tokens[i].level;
    const last = blocks[blocks.length - 1];
    if (last && last.look === look) last.to = i + 1;
    else blocks.push({ look, from: i, to: i + 1 });
  }
  return blocks;
}

function drawPosition(track, { view: { lane, shown }, ran }) {
  const step = lane.steps[shown - 1];
  const left = 100 - (100 * (step ? step.count : 0)) / track.tokens;
  ran.style.clipPath = `inset(0 ${left.toFixed(2)}% 0 0 round 5px)`;
}

// The factor of a lane appears when the lane has finished, as soon as both speeds are known, and stands still: in the middle
// of a race a speed is no result. The time is that of decoding, from which the factor comes; of the longest one it fills the
// column.
function drawFigures(row, race, reference, longest) {
  const { view } = row;
  const { lane, shown, rate, state } = view;
  const isOver = state === "done" || state === "stopped";
  const isFinal = reference && isOver && reference.lane.end;
  put(row.ratio, isFinal && finalRate(reference.lane) ? formatRatio(finalRate(lane) / finalRate(reference.lane)) : "");
  put(row.rate, rate ? `${formatRate(rate)} tok/s` : state);
  const runs = countTargetRuns(race, view);
  put(row.runs, `${runs} run${runs === 1 ? "" : "s"}`);
  const step = lane.steps[shown - 1];
  put(row.clock, step ? formatSeconds(step.decodeSeconds) : NONE);
  const [target, rest] = step ? [step.targetSeconds, Math.max(0, step.decodeSeconds - step.targetSeconds)] : [0, 0];
  row.target.style.width = percent(target, longest);
  row.rest.style.width = percent(rest, longest);
  row.parts.dataset.exact = `big model ${formatSeconds(target)}, drafting and overhead ${formatSeconds(rest)}`;
  row.box.dataset.laneState = state;
}

function percent(part, whole) {
  return whole ? `${((100 * part) / whole).toFixed(1)}%` : "0";
}

// Forward passes of the target up to the time shown; none in a lane that it does not review.
function countTargetRuns(race, { lane, shown }) {
  const [first] = lane.steps;
  return first && levelOf(race, first.line.r.by).mark === "T" ? shown : 0;
}

function finalRate(lane) {
  return lane.decodeSeconds ? lane.tokens.length / lane.decodeSeconds : 0;
}

// The fastest lanes of those that have written the whole text, by the same speed as the factor; equals share the place.
function winners(views) {
  const done = views.filter((view) => view.state === "done");
  if (done.length < 2) return new Set();
  const best = Math.max(...done.map((view) => finalRate(view.lane)));
  return new Set(done.filter((view) => finalRate(view.lane) * (1 + EVEN) >= best));
}
