// The key of a score: each kind of guess that it has, drawn as the score draws it but in no level's colour, and a word for what is left out.

import { h } from "./dom.js";

// A score of one round explains itself.
export function createKey(score) {
  if (score.boxes.length < 2) return [];
  const cells = score.boxes.flatMap((box) => box.cells);
  const fates = new Set(cells.filter(({ gone }) => gone === Infinity).map(({ fate }) => fate));
  return [
    createSign({ "data-run": true }, "one run"),
    createSign({ "data-own": true }, "written here"),
    createSign({}, "kept"),
    fates.has("rejected") && createSign({ "data-fate": "rejected" }, "rejected"),
    fates.has("unjudged") && createSign({ "data-fate": "unjudged" }, "dropped"),
    score.tail < score.to && h("span", { text: "\u00B7: more dropped" }),
    cells.some(({ gone }) => gone < Infinity) && h("span", { class: "cs-key-gone", text: "not shown: guesses dropped before the big model saw them" }),
  ].filter(Boolean);
}

function createSign(kind, text) {
  return h("span", { class: "cs-sign", ...kind, text });
}
