// A line chart as SVG that fills its element: every curve has its name at its end, and the pointer reads the values off. From
// one chart to the next of the same curves it moves, unless the visitor wants no motion.

import symbols from "../symbols.json" with { type: "json" };
import { along, around, LINE, placeLabels } from "./places.js";
import { factor } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const NARROW = 320; // pixels of the plot below which its longest title is wider than it, and begins at the left edge
const EDGE = { left: 42, right: 132, top: 26, bottom: 42 };
const NEAR = 28; // pixels between two symbols of a method up to which they share a label
const SIZE = 15; // pixels of its text, in its own units, which grow with the page
const VALUE = 17; // the same of the values at symbols
const POINTS = 100; // of a curve or a bar, that labels keep off
const APART = 17; // pixels between two names
const CAP = 5; // pixels on either side of a bar, at its ends
const MOVES = 220; // milliseconds
const BARE = 150; // what it costs a label to be only its number, for want of room: see places.js
const WIDE = 360; // pixels of the plot from which there is room for two values on a line
const SYMBOLS = { speculative: "square", cascade: "triangle-up", "adaptive cascade": "diamond" }; // as in csd/theme.py

function draw(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Returns show({title, xTitle, xs, curves: [{name, look, ys, at, range}], ghosts, points, levels, top}): `look` is a method's name,
// `at` the index of the open symbol with the predicted value, and `range` the ends of a bar through it. Of the rest, which may be missing, `ghosts` are curves behind the others,
// `points` [{look, x, y}] filled symbols, which were measured, `levels` [{name, look, y, note}] lines across with what is said of them, and `top` is where the axis ends.
// `pick(x)`, where there is one, is called with the place that the visitor clicks, or draws the pointer to.
export function startChart(root, pick = null) {
  const title = document.createElement("h3");
  const svg = draw("svg", { role: "img" });
  const read = document.createElement("p");
  read.className = "chart-read";
  root.replaceChildren(title, svg, read);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let drawn = null;
  let scale = null;
  let frame = 0;
  const paint = () => {
    if (drawn && root.clientWidth) scale = plot(svg, root, drawn);
  };
  const tell = (index) => {
    const { xs, xTitle, curves } = drawn;
    read.textContent = `${xTitle}: ${xs[index]} \u00b7 ${curves.map(({ name, ys }) => `${name} ${ys[index].toFixed(2)}×`).join(", ")}`;
  };
  const forget = () => {
    scale?.cursor.setAttribute("hidden", "");
    read.textContent = "";
  };
  const indexAt = (event) => {
    const x = (event.clientX - svg.getBoundingClientRect().left) / unitOf(root);
    return Math.max(0, Math.min(drawn.xs.length - 1, Math.round(scale.index(x))));
  };
  let picked = null; // the last place since the pointer went down
  const pickAt = (index) => {
    if (index !== picked) pick(drawn.xs[(picked = index)]);
  };
  svg.addEventListener("pointermove", (event) => {
    if (!scale) return;
    const index = indexAt(event);
    scale.cursor.setAttribute("transform", `translate(${scale.x(index)} 0)`);
    scale.cursor.removeAttribute("hidden");
    tell(index);
    if (pick && event.buttons) pickAt(index);
  });
  if (pick) {
    root.toggleAttribute("data-picks", true);
    svg.addEventListener("pointerdown", () => { picked = null; });
    svg.addEventListener("click", (event) => scale && pickAt(indexAt(event)));
  }
  svg.addEventListener("pointerleave", forget);
  new ResizeObserver(paint).observe(root);
  return (chart) => {
    title.textContent = chart.title;
    svg.setAttribute("aria-label", `${chart.title} Speed-up over ${chart.xTitle}.`);
    read.textContent = "";
    cancelAnimationFrame(frame);
    const from = drawn;
    if (!from || still.matches || from.xs.length !== chart.xs.length || from.curves.length !== chart.curves.length) {
      drawn = chart;
      return paint();
    }
    const began = performance.now();
    const step = (now) => {
      const part = Math.min(1, Math.max(0, now - began) / MOVES);
      drawn = part < 1 ? between(from, chart, 1 - (1 - part) ** 3) : chart;
      paint();
      if (part < 1) frame = requestAnimationFrame(step);
    };
    return step(began);
  };
}

// The chart on the way from one to another, which has as many curves over as many places.
export function between(from, to, part) {
  const mix = (a, b) => (a === undefined || b === undefined ? b : a + (b - a) * part);
  const curves = to.curves.map((curve, i) => {
    const before = from.curves[i];
    const range = curve.range?.map((y, j) => mix(before.range?.[j], y));
    return { ...curve, at: mix(before.at, curve.at), range, ys: curve.ys.map((y, j) => mix(before.ys[j], y)) };
  });
  return { ...to, curves, top: mix(from.top, to.top) };
}

// The numbers at which an axis has a line: round steps, at most `most` of them.
export function ticks(high, most) {
  const raw = high / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= raw * 0.999);
  return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}

// Heights for names that keep their distance: pushed down from the top, then up from the bottom.
export function spread(heights, least, most) {
  const order = heights.map((y, i) => [y, i]).sort((a, b) => a[0] - b[0]);
  let free = least;
  for (const one of order) free = (one[0] = Math.max(one[0], free)) + APART;
  let limit = most;
  for (const one of order.reverse()) limit = (one[0] = Math.min(one[0], limit)) - APART;
  return order.sort((a, b) => a[1] - b[1]).map(([y]) => y);
}

// Pixels of the window to one of the chart.
const unitOf = (root) => parseFloat(getComputedStyle(root).fontSize) / SIZE;

// The value of a curve at an index that may lie between two places.
const valueAt = (ys, at) => ys[Math.floor(at)] + (ys[Math.ceil(at)] - ys[Math.floor(at)]) * (at % 1);

// The points of a curve, and those between them, close enough that no label slips through: [[index, value]].
function pointsOf(ys, count) {
  const steps = Math.max(1, Math.round(POINTS / count));
  return Array.from({ length: (count - 1) * steps + 1 }, (_, i) => [i / steps, valueAt(ys, i / steps)]);
}

// The labels of what was predicted and what was measured, {look, x, ys, values, bare, side}, `bare` being a single number without a word: one for both where they are of one method and
// stand at one place. The label of the fastest is above it, so that it keeps out of the way of the others.
function labelsOf(dots, measured) {
  const fastest = Math.max(...dots.map(({ value }) => value));
  const isAt = (one, other) => one.look === other.look && Math.abs(one.x - other.x) < APART && Math.abs(one.y - other.y) < NEAR;
  const alone = measured.filter((one) => !dots.some((dot) => isAt(dot, one)));
  return [...dots.map((dot) => ({ dot, found: measured.find((one) => isAt(dot, one)) })), ...alone.map((found) => ({ found }))].map(({ dot, found }) => {
    const marks = [dot, found].filter(Boolean);
    const told = [dot && ["predicted", factor(dot.value)], found && ["measured", factor(found.value)]].filter(Boolean);
    const bare = told.length > 1 ? "" : told[0][1];
    return { look: marks[0].look, x: marks[0].x, ys: marks.map(({ y }) => y), values: told.map((words) => words.join(" ")), bare, side: marks[0].value < fastest ? "below" : "above" };
  });
}

function plot(svg, root, { xs, xTitle, curves, ghosts = [], points = [], levels = [], top }) {
  const unit = unitOf(root);
  const width = root.clientWidth / unit;
  const height = root.hasAttribute("data-fills") ? root.clientHeight / unit : Math.max(250, Math.min(360, width * 0.55));
  const high = top ?? Math.max(1.2, ...curves.flatMap(({ ys }) => ys)) * 1.06;
  const inner = { width: width - EDGE.left - EDGE.right, height: height - EDGE.top - EDGE.bottom };
  const [first, last] = [xs[0], xs[xs.length - 1]];
  const toX = (x) => EDGE.left + ((x - first) / (last - first)) * inner.width;
  const toY = (y) => EDGE.top + inner.height * (1 - y / high);
  const atX = (at) => toX(first + ((last - first) * at) / (xs.length - 1));
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width: width * unit, height: height * unit })) svg.setAttribute(name, value);
  const right = EDGE.left + inner.width;
  const parts = [];
  const across = (kind, y, more = {}) => parts.push(draw("line", { class: kind, x1: EDGE.left, x2: right, y1: toY(y), y2: toY(y), ...more }));
  for (const y of ticks(high, height < 300 ? 4 : 5)) {
    if (y !== 1) across("chart-grid", y);
    parts.push(draw("text", { class: "chart-tick", x: EDGE.left - 6, y: toY(y) + 4, "text-anchor": "end" }, `${y}×`));
  }
  across("chart-unit", 1);
  const most = ((inner.width > 320 ? 6 : 4) * last) / (last - first); // of the whole axis from 0 on
  for (const x of ticks(last, most).filter((one) => one >= first)) {
    parts.push(draw("text", { class: "chart-tick", x: toX(x), y: height - EDGE.bottom + 18, "text-anchor": "middle" }, x));
  }
  const middle = inner.width < NARROW ? { x: 0 } : { x: EDGE.left + inner.width / 2, "text-anchor": "middle" };
  parts.push(draw("text", { class: "chart-title", y: height - 5, ...middle }, xTitle));
  const cursor = draw("g", { class: "chart-cursor", hidden: "" });
  cursor.append(draw("line", { x1: 0, x2: 0, y1: EDGE.top, y2: EDGE.top + inner.height }));
  parts.push(cursor);
  const line = ({ look, ys }, kind) => parts.push(draw("path", { class: kind, "data-method": look,
    d: ys.slice(0, xs.length).map((y, j) => `${j ? "L" : "M"}${atX(j).toFixed(1)} ${toY(y).toFixed(1)}`).join("") }));
  const symbol = (look, x, y, kind, size = 1) => parts.push(draw("path", { class: kind, "data-method": look, d: symbols[SYMBOLS[look] ?? "circle"],
    transform: `translate(${x - 8 * size} ${y - 8 * size}) scale(${size})` }));
  ghosts.forEach((ghost) => line(ghost, "chart-ghost"));
  levels.forEach(({ look, y }) => across("chart-level", y, { "data-method": look }));
  curves.forEach((curve) => line(curve, "chart-line"));
  const named = [...curves.map(({ name, look, ys }) => ({ name, look, y: ys[ys.length - 1] })), ...levels, { name: "big model alone", look: "autoregressive", y: 1 }];
  const heights = spread(named.map(({ y }) => toY(y)), EDGE.top + 4, EDGE.top + inner.height);
  named.forEach(({ name, look, y }, i) => {
    const isAway = Math.abs(heights[i] - toY(y)) > 5;
    if (isAway) parts.push(draw("path", { class: "chart-leader", d: `M${right + 2} ${toY(y)}L${right + 10} ${heights[i]}` }));
    parts.push(draw("text", { class: "chart-name", "data-method": look, x: right + (isAway ? 14 : 8), y: heights[i] + 4 }, name));
  });
  const dots = curves.filter(({ at }) => at !== undefined).map(({ look, ys, at, range }) => {
    const value = valueAt(ys, at);
    return { look, value, x: atX(at), y: toY(value), ends: range?.map(toY) };
  });
  const bars = dots.filter(({ ends }) => ends);
  bars.forEach(({ look, x, ends: [low, top] }) => parts.push(draw("path", { class: "chart-range", "data-method": look,
    d: `M${x} ${low}V${top}M${x - CAP} ${low}h${2 * CAP}M${x - CAP} ${top}h${2 * CAP}` })));
  dots.forEach(({ look, x, y }) => symbol(look, x, y, "chart-dot"));
  const measured = points.map(({ look, x, y }) => ({ look, x: toX(x), y: toY(y), value: y }));
  const lines = [1, ...levels.map(({ y }) => y)].map((y) => ({ ys: xs.map(() => y) })); // across the plot
  const isWide = inner.width > WIDE;
  const marks = [...dots, ...measured];
  const withBare = (lines, bare, choicesOf) => [...choicesOf(lines), ...(bare ? choicesOf([bare]).map((one) => ({ ...one, cost: (one.cost ?? 0) + BARE })) : [])];
  const labels = [
    ...levels.map(({ look, y, note }) => ({ look, choices: withBare([note], factor(y), (lines) => along(toY(y), EDGE.left + 8, right - 8, lines)) })),
    ...labelsOf(dots, measured).map(({ look, x, ys, values, bare, side }) => {
      const others = marks.filter((mark) => mark.look !== look).map(({ x, y }) => [x, y]);
      return { look, choices: withBare(isWide ? [values.join(", ")] : values, bare, (lines) => around(x, ys, side, lines, VALUE, others)) };
    }),
  ];
  const drawn = [...curves, ...ghosts, ...lines].flatMap(({ ys }) => pointsOf(ys, xs.length).map(([j, y]) => [atX(j), toY(y)]));
  bars.forEach(({ x, ends: [low, top] }) => drawn.push(...Array.from({ length: POINTS }, (_, i) => [x, low + ((top - low) * i) / POINTS])));
  const within = { left: EDGE.left, right, top: 4, bottom: EDGE.top + inner.height + 4 };
  const places = placeLabels(labels.map(({ choices }) => choices), VALUE, within, drawn, marks.map(({ x, y }) => [x, y]));
  labels.forEach(({ look }, i) => {
    const { x, y, anchor = "start", lines: said } = places[i];
    const label = draw("text", { class: "chart-value", "data-method": look, x, y, "text-anchor": anchor });
    label.append(...said.map((line, j) => draw("tspan", { x, dy: j && LINE * VALUE }, line)));
    parts.push(label);
  });
  points.forEach(({ look, x, y }) => symbol(look, toX(x), toY(y), "chart-point", 0.85));
  svg.replaceChildren(...parts);
  return { cursor, x: atX, index: (x) => ((x - EDGE.left) / inner.width) * (xs.length - 1) };
}
