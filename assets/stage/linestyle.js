// How a method looks: colour, marker and dash pattern, the same in every race and in the figures (csd/theme.py). The log
// says for each lane which: {symbol, dash, light, dark}.

import { s } from "./dom.js";

const DASHES = { solid: "", dot: "2 5", dash: "9 5", longdash: "14 5", dashdot: "12 5 2 5", longdashdot: "16 5 2 5" };
const SYMBOLS = {
  circle: (x, y) => ["circle", { cx: x, cy: y, r: 4.5 }],
  square: (x, y) => ["rect", { x: x - 4, y: y - 4, width: 8, height: 8 }],
  diamond: (x, y) => ["path", { d: `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z` }],
  "triangle-up": (x, y) => ["path", { d: `M${x} ${y - 5.5}L${x + 5} ${y + 4}H${x - 5}Z` }],
  "triangle-down": (x, y) => ["path", { d: `M${x} ${y + 5.5}L${x + 5} ${y - 4}H${x - 5}Z` }],
  "triangle-right": (x, y) => ["path", { d: `M${x + 5.5} ${y}L${x - 4} ${y + 5}V${y - 5}Z` }],
  cross: (x, y) => ["path", { d: `M${x - 2} ${y - 6}h4v4h4v4h-4v4h-4v-4h-4v-4h4z` }],
  x: (x, y) => ["path", { d: `M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x + 5} ${y - 5}L${x - 5} ${y + 5}` }],
};
const OTHER = { symbol: "circle", dash: "solid" };

// The line of a lane, along an SVG path if one is given.
export function laneLine({ look = OTHER }, d) {
  const dashes = DASHES[look.dash] || null;
  return s("path", { fill: "none", class: "cs-line", style: colours(look), "stroke-dasharray": dashes, d });
}

export function laneMarker({ look = OTHER }, x, y) {
  const [tag, attributes] = (SYMBOLS[look.symbol] || SYMBOLS.circle)(x, y);
  return s(tag, { ...attributes, class: "cs-marker", style: colours(look) });
}

// The marker in small, beside the lane's name.
export function laneKey(info) {
  return s("svg", { class: "cs-key", viewBox: "0 0 14 14", "aria-hidden": "true" }, laneMarker(info, 7, 7));
}

// The style sheet takes the one that suits the page.
function colours({ light, dark }) {
  return light ? `--cs-light:${light};--cs-dark:${dark}` : null;
}
