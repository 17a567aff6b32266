// The race track: a row per lane, on which every pass of the target is one jump towards the finish.

import { h, put, s } from "./dom.js";
import { formatRate, formatSeconds } from "./format.js";
import { laneKey } from "./linestyle.js";
import { levelMarks } from "./log.js";
import { selectLane } from "./playback.js";

const HEIGHT = 100; // of a bar, in the units of its drawing
const NONE = "\u2013";

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
  const caption = h("span", { class: "cs-track-caption", text: "one jump = one run of the big model" });
  track.box.replaceChildren(h("div", { class: "cs-track-head" }, caption, track.goal),
    ...track.rows.map((row) => row.box));
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
  const places = finishingOrder(views);
  for (const row of track.rows) {
    if (row.drawn !== row.view.lane.steps.length) drawBar(race, track, row);
    drawPosition(track, row);
    drawFigures(row, reference, places);
    row.box.classList.toggle("cs-selected", row.view === view && views.length > 1);
  }
}

function createRow(stage, view) {
  const { info, index } = view.lane;
  const name = info.label ? `${info.method}, ${info.label}` : info.method;
  const select = h("button", { type: "button", class: "cs-name", title: `${name}. Select this lane (${index + 1}).`,
                               onclick: () => selectLane(stage, view) },
    laneKey(info), h("span", {}, h("b", { text: info.method }), h("small", { text: info.label || "target only" })));
  const row = {
    view,
    bar: s("svg", { class: "cs-bar-svg", preserveAspectRatio: "none", "aria-hidden": "true" }),
    ran: h("div", { class: "cs-ran" }), // clips the bar at the lane's position
    drawn: 0, // steps that the bar contains
    place: h("span", { class: "cs-rank" }),
    ratio: h("b", { class: "cs-ratio" }),
    rate: h("b", { class: "cs-rate", text: NONE }),
    clock: h("span", { class: "cs-clock", text: NONE }),
    count: h("small", { class: "cs-count", text: NONE }),
  };
  row.ran.append(row.bar);
  row.box = h("div", { class: "cs-track-row", "data-lane": index }, select,
    h("div", { class: "cs-lane-bar" }, row.ran), h("span", { class: "cs-outcome" }, row.place, row.ratio),
    h("span", { class: "cs-speed-of-lane" }, h("span", {}, row.rate, h("small", { text: " tok/s" })), row.count), row.clock);
  return row;
}

// How many tokens the finish line stands for. All lanes that have ended by themselves wrote the whole text.
function finishLine(race) {
  const written = Math.max(1, ...race.lanes.map((lane) => lane.tokens.length));
  const ended = race.lanes.some((lane) => lane.end && lane.end !== "stopped");
  return race.close || ended ? written : Math.max(written, ...race.open.lanes.map((lane) => lane.max));
}

// One path per level: the tokens of a jump side by side, with a gap before the next jump.
function drawBar(race, track, row) {
  const { lane } = row.view;
  const shapes = new Map(levelMarks(race).map(({ look }) => [look, []]));
  const gap = Math.min(0.3, track.tokens / 400);
  for (const step of lane.steps) {
    for (let i = step.from; i < step.count; i++) {
      const { look } = lane.tokens[i].level;
      const wide = i === step.count - 1 ? 1 - gap : 1;
      shapes.get(look).push(`M${i} 0h${wide}v${HEIGHT}h-${wide}z`);
    }
  }
  row.drawn = lane.steps.length;
  row.bar.setAttribute("viewBox", `0 0 ${track.tokens} ${HEIGHT}`);
  row.bar.replaceChildren(...[...shapes].filter(([, parts]) => parts.length)
    .map(([look, parts]) => s("path", { "data-look": look, d: parts.join("") })));
}

function drawPosition(track, { view: { lane, shown }, ran }) {
  const step = lane.steps[shown - 1];
  const left = 100 - (100 * (step ? step.count : 0)) / track.tokens;
  ran.style.clipPath = `inset(0 ${left.toFixed(2)}% 0 0)`;
}

// The factor of a lane that has finished stands still: it is that of the whole lanes, as soon as both are known.
function drawFigures(row, reference, places) {
  const { view } = row;
  const { lane, shown, rate, state } = view;
  const isOver = state === "done" || state === "stopped";
  const final = reference && isOver && reference.lane.end ? finalRate(lane) / finalRate(reference.lane) : 0;
  const now = reference && reference.rate && rate ? rate / reference.rate : 0;
  const ratio = final || now;
  put(row.ratio, ratio ? `\u00D7${ratio.toFixed(ratio < 1 ? 2 : 1)}` : "");
  row.ratio.classList.toggle("cs-provisional", !final);
  put(row.rate, rate ? formatRate(rate) : NONE);
  const count = shown ? lane.steps[shown - 1].count : 0;
  put(row.count, shown ? `${count} in ${shown} run${shown === 1 ? "" : "s"}` : state);
  put(row.clock, view.seconds ? formatSeconds(view.seconds) : NONE);
  const place = places.indexOf(view);
  put(row.place, isOver && place >= 0 && places.length > 1 ? ["1st", "2nd", "3rd", "4th"][place] || "" : "");
  row.box.dataset.laneState = state;
}

function finalRate(lane) {
  return lane.decodeSeconds ? lane.tokens.length / lane.decodeSeconds : 0;
}

// Lanes that have written the whole text, the one with the shortest clock first.
function finishingOrder(views) {
  return views.filter((view) => view.state === "done").sort((one, other) => one.lane.clock - other.lane.clock);
}
