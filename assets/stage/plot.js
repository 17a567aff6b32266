// The plot below the stage: tokens over the decode time of each lane.

import { h, put, s } from "./dom.js";
import { formatRate } from "./format.js";
import { placeLabels } from "./labels.js";
import { colours, laneLine, laneMarker } from "./linestyle.js";
import { term } from "./terms.js";
import { roundUp, ticks } from "./timescale.js";

const SIZE = 15; // pixels of the text around it, in the units of the plot, which grow with the page
const PAD = { left: 46, top: 26, bottom: 42 };
const NARROW = 560; // pixels below which labels have no room for names; the markers tell the lanes apart
const padRight = (width) => (width < NARROW ? 88 : 210); // so that the slowest lane's label stands behind its end
const COUNTED = ["", "", "the two", "the three", "the four"];

export function createPlot() {
  return {
    box: h("figure", { class: "cs-plot" }),
    svg: null,
    grid: null,
    lines: [], // {view, group, path, dot, label, points, drawn}: parts of the SVG, the path's points, the steps drawn
    width: 0, // in its units; 0 until measured
    height: 0,
    seconds: 1, // ends of the axes
    tokens: 1,
  };
}

export function openPlot({ plot, views }) {
  plot.width = 0;
  plot.grid = s("g", { class: "cs-grid" });
  plot.lines = views.map(createLine);
  plot.svg = s("svg", { role: "img", "aria-label": "Tokens over the decode time of each lane" },
    plot.grid, ...plot.lines.map((line) => line.group), ...plot.lines.map((line) => line.label)); // no line over a label
  const lanes = COUNTED[views.length] || `the ${views.length}`;
  const shared = views.length > 1 ? ` \u2013 ${lanes} lanes share one device; each has its own clock` : "";
  const caption = h("span", {}, h("b", {}, "Tokens over ", term("decode time")), shared);
  plot.box.replaceChildren(h("figcaption", { class: "cs-caption" }, caption), plot.svg);
}

export function clearPlot({ plot }) {
  Object.assign(plot, { svg: null, lines: [] });
  plot.box.replaceChildren();
}

export function drawPlot(stage) {
  const { plot, presenting } = stage;
  if (!plot.svg || presenting) return;
  const { seconds, tokens } = axisEnds(stage);
  if (!plot.width || seconds !== plot.seconds || tokens !== plot.tokens) {
    const unit = parseFloat(getComputedStyle(plot.box).fontSize) / SIZE;
    Object.assign(plot, { seconds, tokens, width: (plot.box.clientWidth || 600) / unit, height: (plot.svg.clientHeight || 190) / unit });
    for (const line of plot.lines) Object.assign(line, { points: [], drawn: -1 });
    drawGrid(plot);
  }
  if (!plot.lines.some((line) => line.drawn !== line.view.shown)) return;
  for (const line of plot.lines) drawLine(plot, line);
  drawLabels(plot, plot.lines.filter((line) => line.view.shown));
}

function createLine(view) {
  const path = laneLine(view.lane.info);
  const dot = s("g", {}, laneMarker(view.lane.info, 0, 0));
  const label = s("text", { class: "cs-end", style: colours(view.lane.info.look || {}) });
  return { view, path, dot, label, group: s("g", { class: "cs-curve" }, path, dot), points: [], drawn: -1 };
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
  if (line.drawn === shown) return;
  line.drawn = shown;
  for (const part of [line.group, line.label]) part.style.display = shown ? "" : "none";
  line.path.setAttribute("d", points.slice(0, shown + 1).join(""));
}

function drawLabels(plot, lines) {
  const ends = lines.map(({ view: { lane, shown, rate } }) => {
    const { decodeSeconds, count } = lane.steps[shown - 1];
    const name = plot.width < NARROW ? "" : `${lane.info.method} `;
    return { x: xAt(plot, decodeSeconds), y: yAt(plot, count), text: `${name}${formatRate(rate)} tok/s` };
  });
  placeLabels(ends, { left: PAD.left, right: plot.width, height: plot.height }).forEach(({ x, y, anchor }, i) => {
    const { dot, label } = lines[i];
    dot.setAttribute("transform", `translate(${ends[i].x.toFixed(1)} ${ends[i].y.toFixed(1)})`);
    label.setAttribute("x", x);
    label.setAttribute("y", y);
    label.setAttribute("text-anchor", anchor);
    put(label, ends[i].text);
  });
}

function drawGrid(plot) {
  const { width, height, seconds, tokens } = plot;
  const right = width - padRight(width);
  const bottom = height - PAD.bottom;
  const text = (x, y, anchor, value) => s("text", { x, y, "text-anchor": anchor, text: value });
  const vertical = ticks(0, seconds, roundUp(seconds / 8)).flatMap((tick) => {
    const x = xAt(plot, tick.value);
    return [s("path", { d: `M${x} ${PAD.top}V${bottom}` }), text(x, bottom + 17, "middle", tick.text)];
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
