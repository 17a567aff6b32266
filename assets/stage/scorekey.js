// The key of a score: each kind of guess that it has, drawn as the score draws it but in no level's colour, and a word for what is left out.

import { h } from "./dom.js";
import { isNumbered } from "./scoregrid.js";

// A score of one round explains itself.
export function createKey(score) {
  if (score.boxes.length < 2) return [];
  const fates = new Set(score.boxes.flatMap(({ cells }) => cells.map(({ fate }) => fate)));
  return [
    createSign({ "data-own": true }, "written here"),
    createSign({}, "from a row below"),
    fates.has("rejected") && createSign({ "data-fate": "rejected" }, "rejected"),
    fates.has("unjudged") && createSign({ "data-fate": "unjudged" }, "dropped"),
    ...tellRest(score).map((text) => h("span", { text })),
  ].filter(Boolean);
}

function createSign(kind, text) {
  return h("span", { class: "cs-sign", ...kind, text });
}

// What has no word in the picture, and why a level may have two lines.
function tellRest(score) {
  const cut = isNumbered(score) && score.boxes.map((box) => box.cut).find(Boolean);
  const signs = [score.tail < score.to && "\u00B7", cut && `+${cut}`].filter(Boolean).join(" or ");
  const hasLines = score.boxes.some(({ line, cells }) => line > 0 && cells.length);
  const isLess = score.boxes.some(({ isLeftOut }) => isLeftOut);
  return [
    signs && `${signs}: more dropped`,
    hasLines && "second line: a new guess after a correction",
    isLess && "some guesses of which none was kept are left out",
  ].filter(Boolean);
}
