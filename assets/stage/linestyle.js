// How the lines of the lanes look: ink with a dash pattern and a marker for each method, since the colours belong to the
// levels. A method looks the same in every race.

import { s } from "./dom.js";

const DASHES = ["2 6", "10 6", "1 5", "14 5 2 5", ""];
const MARKERS = [
  (x, y) => ["circle", { cx: x, cy: y, r: 4.5 }],
  (x, y) => ["rect", { x: x - 4, y: y - 4, width: 8, height: 8 }],
  (x, y) => ["path", { d: `M${x} ${y + 5.5}L${x + 5} ${y - 4}H${x - 5}Z` }],
  (x, y) => ["path", { d: `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z` }],
  (x, y) => ["path", { d: `M${x} ${y - 5.5}L${x + 5} ${y + 4}H${x - 5}Z` }],
];
const STYLES = {
  autoregressive: 0, speculative: 1, "prompt lookup": 2, "vertical cascade": 3, "horizontal cascade": 3, cascade: 3,
  "adaptive cascade": 4, "draft alone": 2,
};

function styleOf(method) {
  return STYLES[method] ?? 3;
}

// The line of a method, along an SVG path if one is given.
export function laneLine(method, d) {
  return s("path", { fill: "none", class: "cs-line", "stroke-dasharray": DASHES[styleOf(method)], d });
}

export function laneMarker(method, x, y) {
  const [tag, attributes] = MARKERS[styleOf(method)](x, y);
  return s(tag, { ...attributes, class: "cs-marker" });
}

// The marker in small, beside the lane's name.
export function laneKey(method) {
  return s("svg", { class: "cs-key", viewBox: "0 0 14 14", "aria-hidden": "true" }, laneMarker(method, 7, 7));
}
