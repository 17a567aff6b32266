// The key of a score: each kind of guess that it has, drawn as the score draws it, and a word for what is left out.

import { h } from "./dom.js";
import { levelOf } from "./log.js";
import { isNumbered } from "./scoregrid.js";

// In the colour of the level that guessed first. A score of one round explains itself.
export function createKey(race, score) {
  const [first, second] = score.boxes;
  if (!second) return [];
  const { look } = levelOf(race, first.record.by);
  const fates = new Set(score.boxes.flatMap(({ cells }) => cells.map(({ fate }) => fate)));
  return [
    createSign(look, { "data-own": true }, "written in this row"),
    createSign(look, {}, "taken from a row below"),
    fates.has("rejected") && createSign(look, { "data-fate": "rejected" }, "rejected"),
    fates.has("unjudged") && createSign(look, { "data-fate": "unjudged" }, "dropped after it"),
    ...tellRest(score).map((text) => h("span", { text })),
  ].filter(Boolean);
}

function createSign(look, kind, text) {
  return h("span", { class: "cs-sign", "data-look": look, ...kind, text });
}

// What has no word in the picture, and why a level may have two lines.
function tellRest(score) {
  const cut = isNumbered(score) && score.boxes.map((box) => box.cut).find(Boolean);
  const signs = [score.tail < score.to && "a dot", cut && `+${cut}`].filter(Boolean).join(" or ");
  const hasLines = score.boxes.some(({ line }) => line > 0);
  return [signs && `${signs}: more that was dropped`, hasLines && "second line: a new guess after a correction"].filter(Boolean);
}
