// How the lines of the lanes look: ink with a dash pattern and a marker each, since the colours belong to the levels.

import { s } from "./dom.js";

const DASHES = ["2 6", "10 6", "", "14 5 2 5"];
const MARKERS = [
  (x, y) => ["circle", { cx: x, cy: y, r: 4.5 }],
  (x, y) => ["rect", { x: x - 4, y: y - 4, width: 8, height: 8 }],
  (x, y) => ["path", { d: `M${x} ${y - 5.5}L${x + 5} ${y + 4}H${x - 5}Z` }],
  (x, y) => ["path", { d: `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z` }],
];

// The line of the lane with this index, along an SVG path if one is given.
export function laneLine(index, d) {
  return s("path", { fill: "none", class: "cs-line", "stroke-dasharray": DASHES[index % DASHES.length], d });
}

export function laneMarker(index, x, y) {
  const [tag, attributes] = MARKERS[index % MARKERS.length](x, y);
  return s(tag, { ...attributes, class: "cs-marker" });
}

// The line and the marker in small, beside the lane's name.
export function laneKey(index) {
  const attributes = { class: "cs-key", viewBox: "0 0 34 12", "aria-hidden": "true" };
  return s("svg", attributes, laneLine(index, "M1 6H24"), laneMarker(index, 28, 6));
}
