// How a method looks: marker, dash pattern and colour, the same in every race and in the figures (csd/theme.py). The log
// says for each lane which: {symbol, dash, light, dark}.

import symbols from "../symbols.json" with { type: "json" };
import { s } from "./dom.js";

const DASHES = { solid: "", dot: "2 5", dash: "9 5", longdash: "14 5", dashdot: "12 5 2 5", longdashdot: "16 5 2 5" };
const OTHER = { symbol: "circle", dash: "solid" };

// The line of a lane, along an SVG path if one is given.
export function laneLine({ look = OTHER }, d) {
  const dashes = DASHES[look.dash] || null;
  return s("path", { fill: "none", class: "cs-line", style: colours(look), "stroke-dasharray": dashes, d });
}

// The symbol, drawn around a point.
export function laneMarker({ look = OTHER }, x, y) {
  const d = symbols[look.symbol] || symbols[OTHER.symbol];
  return s("path", { d, transform: `translate(${x - 6.8} ${y - 6.8}) scale(0.85)`, class: "cs-marker", style: colours(look) });
}

// The marker in small, beside the lane's name.
export function laneKey(info) {
  return s("svg", { class: "cs-key", viewBox: "0 0 14 14", "aria-hidden": "true" }, laneMarker(info, 7, 7));
}

// The style sheet takes the one that suits the page.
export function colours({ light, dark }) {
  return light ? `--cs-light:${light};--cs-dark:${dark}` : null;
}
