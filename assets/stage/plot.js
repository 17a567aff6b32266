// The plot below the stage: tokens over the decode time of each lane.

import { h, put, s } from "./dom.js";
import { formatRate } from "./format.js";
import { colours, laneLine, laneMarker } from "./linestyle.js";
import { titleOf } from "./log.js";
import { isPlaying } from "./state.js";
import { term } from "./terms.js";
import { roundUp, ticks } from "./timescale.js";
import { around, placeLabels } from "../theory/places.js";

const SIZE = 15; // pixels of the text around it, in the units of the plot, which grow with the page
const PAD = { left: 46, top: 26, bottom: 42 };
const NARROW = 560; // pixels below which labels have no room for names; the markers tell the lanes apart
const padRight = (width) => (width < NARROW ? 88 : 210); // so that the slowest lane's label stands behind its end
const GAP = 13; // from the end of a line to the label right of it, where it is read first
const ELSEWHERE = 1.5; // what it costs a label to be anywhere else, see places.js
const UNNAMED = 30; // the same to be left out
const YOUNG = 60; // from the origin: nearer to it the labels of lanes that go on may be left out
const POINTS = 40; // of the steps of a line, that labels keep off
const APART = 2; // pixels from one of its points to the next

export function createPlot() {
  return {
    box: h("figure", { class: "cs-plot" }),
    svg: null,
    grid: null,
    lines: [], // {view, group, rest, path, dot, label, points, drawn}: parts of the SVG, the path's points, the steps drawn
    width: 0, // in its units; 0 until measured
    height: 0,
    seconds: 1, // ends of the axes
    tokens: 1,
    isStill: false, // whether the rest of each line is seen as well
  };
}

export function openPlot({ plot, views }) {
  plot.width = 0;
  plot.grid = s("g", { class: "cs-grid" });
  plot.lines = views.map(createLine);
  plot.svg = s("svg", { role: "img", "aria-label": "Tokens over the decode time of each lane" },
    plot.grid, ...plot.lines.map((line) => line.group), ...plot.lines.map((line) => line.label)); // no line over a label
  const shared = views.length > 1 ? ". Steeper is faster. Each lane is timed by itself." : "";
  const caption = h("span", {}, h("b", {}, "Tokens over ", term("decode time")), shared);
  plot.box.replaceChildren(h("figcaption", { class: "cs-caption" }, caption), plot.svg);
}

export function clearPlot({ plot }) {
  Object.assign(plot, { svg: null, lines: [] });
  plot.box.replaceChildren();
}

export function drawPlot(stage) {
  const { plot, presenting } = stage;
  if (!plot.svg || plot.box.hidden || presenting) return;
  const { seconds, tokens } = axisEnds(stage);
  if (!plot.width || seconds !== plot.seconds || tokens !== plot.tokens) {
    const unit = parseFloat(getComputedStyle(plot.box).fontSize) / SIZE;
    Object.assign(plot, { seconds, tokens, width: (plot.box.clientWidth || 600) / unit, height: (plot.svg.clientHeight || 190) / unit });
    for (const line of plot.lines) Object.assign(line, { points: [], drawn: -1 });
    drawGrid(plot);
  }
  const isStill = stage.mode === "replay" && !isPlaying(stage); // a replay that plays gives nothing away
  if (isStill === plot.isStill && !plot.lines.some((line) => line.drawn !== line.view.shown)) return;
  plot.isStill = isStill;
  for (const line of plot.lines) drawLine(plot, line);
  const hasBegun = plot.lines.some((line) => line.view.shown); // from then on a lane without a step waits at the origin
  for (const { group, label } of plot.lines) for (const part of [group, label]) part.style.display = hasBegun ? "" : "none";
  if (hasBegun) drawLabels(plot, plot.lines);
}

function createLine(view) {
  const path = laneLine(view.lane.info);
  const rest = laneLine(view.lane.info);
  rest.classList.add("cs-rest-of-line");
  const dot = s("g", {}, laneMarker(view.lane.info, 0, 0));
  const label = s("text", { class: "cs-end", style: colours(view.lane.info.look || {}) });
  return { view, rest, path, dot, label, group: s("g", { class: "cs-curve" }, path, rest, dot), points: [], drawn: -1 };
}

// While the race runs the axes have room for what is to come.
function axisEnds({ race, views }) {
  const written = Math.max(...views.map((view) => view.lane.tokens.length), 1);
  const longest = Math.max(...views.map((view) => view.lane.decodeSeconds), 0.001);
  if (race.close) return { seconds: longest, tokens: written };
  return { seconds: roundUp(longest), tokens: Math.max(...race.open.lanes.map((lane) => lane.max), written) };
}

function xAt({ width, seconds }, time) {
  return PAD.left + (time / seconds) * (width - PAD.left - padRight(width));
}

function yAt({ height, tokens }, count) {
  return height - PAD.bottom - (count / tokens) * (height - PAD.top - PAD.bottom);
}

function drawLine(plot, line) {
  const { points } = line;
  const { lane, shown } = line.view;
  const point = (time, count) => `${xAt(plot, time).toFixed(1)} ${yAt(plot, count).toFixed(1)}`;
  if (!points.length) points.push(`M${point(0, 0)}`);
  for (const step of lane.steps.slice(points.length - 1)) points.push(`L${point(step.decodeSeconds, step.count)}`);
  line.rest.setAttribute("d", plot.isStill && shown < lane.steps.length ? `M${points.slice(shown).join("").slice(1)}` : "");
  if (line.drawn === shown) return;
  line.drawn = shown;
  line.path.setAttribute("d", points.slice(0, shown + 1).join(""));
}

function drawLabels(plot, lines) {
  const ends = lines.map(({ view }) => endOf(plot, view));
  const texts = lines.map(({ view }) => labelOf(view, plot.width < NARROW));
  const area = { left: PAD.left, right: plot.width, top: 0, bottom: plot.height - PAD.bottom + SIZE / 1.5 };
  const drawn = lines.flatMap(({ view }) => pointsOf(plot, view));
  const waits = lines.map(({ view }, i) => ends[i][0] < PAD.left + YOUNG && !isOver(view));
  endLabels(ends, texts, area, drawn, waits).forEach(({ x, y, anchor = "start", lines: [text] }, i) => {
    const { dot, label } = lines[i];
    dot.setAttribute("transform", `translate(${ends[i].map((at) => at.toFixed(1)).join(" ")})`);
    for (const [name, value] of Object.entries({ x, y, "text-anchor": anchor })) label.setAttribute(name, value);
    put(label, text);
  });
}

const isOver = ({ lane, shown }) => Boolean(lane.end) && shown > 0 && shown === lane.steps.length;

const endOf = (plot, { lane, shown }) => placeOf(plot, shown ? lane.steps[shown - 1] : { decodeSeconds: 0, count: 0 });

function labelOf({ lane, shown, rate }, isNarrow) {
  const speed = shown ? `${formatRate(rate)} tok/s` : "";
  return isNarrow ? speed : `${titleOf(lane)} ${speed}`.trim();
}

const placeOf = (plot, { decodeSeconds, count }) => [xAt(plot, decodeSeconds), yAt(plot, count)];

// Points of a line, up to its end: of its steps, or of a part of them where they are many, and between them.
function pointsOf(plot, { lane, shown }) {
  const every = Math.ceil(shown / POINTS);
  return refine(lane.steps.slice(0, shown).filter((_, i) => (shown - 1 - i) % every === 0).map((step) => placeOf(plot, step)));
}

// The same points and, where two are far apart, others on the way, so that no label slips through.
export function refine(places) {
  return places.flatMap(([x, y], i) => {
    const [dx, dy] = [(places[i + 1]?.[0] ?? x) - x, (places[i + 1]?.[1] ?? y) - y];
    const parts = Math.max(1, Math.round(Math.hypot(dx, dy) / APART));
    return Array.from({ length: parts }, (_, part) => [x + (dx * part) / parts, y + (dy * part) / parts]);
  });
}

// Where the labels of lines stand that end at `ends`, [x, y], in an `area` that has these points of lines. Of a lane that `waits`
// the label is empty where others need the room.
export function endLabels(ends, texts, area, points, waits = []) {
  const choices = ends.map((end, i) => {
    const places = placesOf(end, texts[i], ends.filter((other) => other !== end));
    return waits[i] ? [...places, { ...places[0], lines: [""], cost: UNNAMED }] : places;
  });
  return placeLabels(choices, SIZE, area, points, ends);
}

// Right of the end of a line, or around it.
function placesOf([x, y], text, others) {
  const elsewhere = around(x, [y], "above", [text], SIZE, others).map((place) => ({ ...place, cost: place.cost + ELSEWHERE }));
  return [{ x: x + GAP, y: y + SIZE / 3, lines: [text] }, ...elsewhere];
}

function drawGrid(plot) {
  const { width, height, seconds, tokens } = plot;
  const right = width - padRight(width);
  const bottom = height - PAD.bottom;
  const text = (x, y, anchor, value) => s("text", { x, y, "text-anchor": anchor, text: value });
  const vertical = ticks(0, seconds, roundUp(seconds / 8)).flatMap((tick) => {
    const x = xAt(plot, tick.value);
    return [s("path", { d: `M${x} ${bottom}v5` }), text(x, bottom + 17, "middle", tick.text)];
  });
  const horizontal = ticks(0, tokens, roundUp(tokens / 4)).flatMap((tick) => {
    const y = yAt(plot, tick.value);
    return [s("path", { d: `M${PAD.left} ${y}H${right}` }), text(PAD.left - 7, y + 5, "end", tick.text)];
  });
  plot.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  plot.grid.replaceChildren(...vertical, ...horizontal,
    text((PAD.left + right) / 2, height - 6, "middle", "seconds of decoding"),
    text(0, PAD.top - 13, null, "tokens"));
}
