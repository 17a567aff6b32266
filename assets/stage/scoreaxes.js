// The axes of a score and the band on top, which names the writers: see scoregrid.js. They say as much as they have room for.

import { h, put } from "./dom.js";
import { countTokens } from "./format.js";
import { levelOf } from "./log.js";
import { hasInnerReview } from "./records.js";
import { term } from "./terms.js";

const ZONE_EDGES = 6; // pixels beside a writer's name over its positions
const LETTERS = 7; // of a writer's name, for which there is always room over its positions
const ARROW = 24; // pixels of the horizontal arrow at least, with the gap before it
const ACROSS = [": cheaper guessers further right", ": cheaper guessers", ": cheaper", ""]; // what the horizontal arrow means
const UPWARDS = [": bigger ones check", ""]; // and the vertical one
const MORE = ": a model that checks cheaper guesses adds a token of its own"; // than planned

// The arrows of the two cascades, the horizontal one where a block has several writers, and who wrote which columns of the target's block.
export function createAxes(race, lane, score, groups, first, end) {
  const last = groups[groups.length - 1].to;
  const columns = last - score.from;
  const isVertical = lane.steps.some(({ line }) => hasInnerReview(line.r));
  const down = h("span", { class: isVertical ? "cs-axis-vertical" : "cs-hidden", style: cell(first, end - first, 1, 1) },
    h("span", {}, verticalTerm(), h("span", { class: "cs-axis-words", text: UPWARDS[0] })));
  const across = h("span", { class: "cs-axis-horizontal", style: cell(1, 1, 3, columns) },
    h("span", {}, term("horizontal cascade", "horizontal"), h("span", { class: "cs-axis-words", text: ACROSS[0] })));
  const bands = groups.map((group) => h("i", {
    class: "cs-band", "data-look": levelOf(race, group.by).look, "aria-hidden": "true",
    style: cell(2, end - 2, columnOf(score, group.from), group.to - group.from),
  }));
  const corner = h("i", { class: "cs-corner", style: cell(1, end - 1, 1, 2) }); // where a scrolled grid would show through
  return [...bands, corner, down, ...(groups.length > 1 ? [across] : []), ...groups.map((group) => createZone(race, lane, score, group, 2))];
}

// Its word is no button: WebKit writes those horizontally, whatever is around them.
function verticalTerm() {
  return h("span", { class: "cs-term", role: "button", tabindex: 0, "data-term": "vertical cascade", text: "vertical" });
}

// The sign of a writer, with as many words of its name as there is room for.
function createZone(race, lane, score, { by, from, to }, row) {
  const { role, look, mark } = levelOf(race, by);
  const n = to - from;
  const planned = lane.info.plan?.[by] ?? n;
  const title = `${role}: ${countTokens(n)} of the block${n === planned ? "" : `, ${planned} by the plan`}${n > planned ? MORE : ""}`;
  return h("span", { class: "cs-zone", "data-look": look, style: `${cell(row, 1, columnOf(score, from), n)}; min-width: ${Math.min(role.split(" ")[0].length, LETTERS)}ch`, title },
    h("span", { class: "cs-zone-name" }, h("span", { class: "cs-zone-mark", "data-mark": mark }), h("span", { class: "cs-zone-words", "data-role": role, "data-count": n })));
}

// The arrows say as much as they have room for.
export function fitAxes(grid) {
  const across = grid.querySelector(".cs-axis-horizontal");
  const upwards = grid.querySelector(".cs-axis-vertical");
  const seen = grid.clientWidth - parseFloat(grid.style.getPropertyValue("--cs-names")); // of a grid that is scrolled
  const fitsAcross = () => across.scrollWidth <= across.clientWidth && across.firstElementChild.offsetWidth + ARROW <= seen;
  if (across) fitWords(across.querySelector(".cs-axis-words"), ACROSS, fitsAcross);
  if (upwards) fitWords(upwards.querySelector(".cs-axis-words"), UPWARDS, () => upwards.scrollWidth <= upwards.clientWidth && upwards.scrollHeight <= upwards.clientHeight);
}

// Over few positions a writer's name is shorter; how many they are is worth more.
export function fitZones(grid) {
  for (const zone of grid.querySelectorAll(".cs-zone")) {
    const [mark, words] = [zone.querySelector(".cs-zone-mark"), zone.querySelector(".cs-zone-words")];
    const { role, count } = words.dataset;
    const [short] = role.split(" ");
    const choices = [`${count} from ${role}`, `${count} from ${short}`, short, count];
    fitWords(words, choices, () => words.offsetWidth <= zone.clientWidth - mark.offsetWidth - ZONE_EDGES);
  }
}

// The first of the choices that fits.
function fitWords(node, choices, hasRoom) {
  for (const words of choices) {
    put(node, words);
    if (hasRoom()) return;
  }
}

export function cell(row, height, column, width) {
  return `grid-row:${row} / span ${height};grid-column:${column} / span ${width}`;
}

// The column of a position; the first ones hold the vertical axis and the names.
export function columnOf(score, position) {
  return position - score.from + 3;
}
