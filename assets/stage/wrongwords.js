// The words of guesses that the text will not have, behind those that it will: in the page's first replay, until the big model has
// found them wrong.

import { h } from "./dom.js";
import { levelOf } from "./log.js";
import { showsGuesses } from "./opening.js";
import { countRight } from "./pending.js";
import { tokenText, tokenWord } from "./text.js";

export function drawWrongWords(stage) {
  const { race, view } = stage;
  const { guesses, lane, tokenNodes } = view;
  const right = countRight(guesses, lane);
  const cells = showsGuesses(stage) ? passedUp(guesses, lane).slice(right) : [];
  const key = `${right} ${cells.map(({ id }) => id).join(" ")}`;
  view.wrong ||= { node: h("span", { class: "cs-wrong-words", "aria-hidden": "true" }), key: "" };
  const { wrong } = view;
  if (key === wrong.key) return;
  wrong.key = key;
  wrong.node.replaceChildren(...cells.map(({ id, who }) => h("span", { class: "cs-wrong-word", "data-look": levelOf(race, who).look, text: wordOf(race, id) })));
  const next = tokenNodes[guesses.from + right];
  if (!cells.length || !next) wrong.node.remove();
  else next.before(wrong.node);
}

// Without those that are still to be rejected by a level below the big model: a word that comes and goes at once is not read.
function passedUp({ cells }, { steps: [first] }) {
  const { x } = first.line.r;
  const end = cells.findIndex(({ id }, j) => id !== x[j]);
  return end < 0 ? cells : cells.slice(0, end);
}

// With the space before it.
function wordOf({ pieces }, id) {
  return `${tokenText(pieces, id).startsWith(" ") ? " " : ""}${tokenWord(pieces, id)}`;
}
