// The words of guesses that the text will not have, behind those that it will: in the page's first replay, until they have been found
// wrong. They look as other guesses do until then.

import { h } from "./dom.js";
import { levelOf } from "./log.js";
import { showsGuesses } from "./opening.js";
import { countRight } from "./pending.js";
import { tokenText, tokenWord } from "./text.js";

export function drawWrongWords(stage) {
  const { race, view } = stage;
  const { guesses, lane, tokenNodes } = view;
  const right = countRight(guesses, lane);
  const cells = showsGuesses(stage) ? guesses.cells.slice(right) : [];
  const key = `${right} ${cells.map(({ id }) => id).join(" ")}`;
  view.wrong ||= { node: h("span", { class: "cs-wrong-words", "aria-hidden": "true" }), key: "" };
  const { wrong } = view;
  if (key === wrong.key) return;
  wrong.key = key;
  wrong.node.replaceChildren(...cells.flatMap(({ id, who }) => wordNodes(race, id, levelOf(race, who).look)));
  const next = tokenNodes[guesses.from + right];
  if (!cells.length || !next) return wrong.node.remove();
  next.before(wrong.node);
  wrong.node.style.textIndent = `${next.offsetLeft - wrong.node.offsetLeft}px`;
}

// With the space before it, at which a line may end.
function wordNodes({ pieces }, id, look) {
  const space = tokenText(pieces, id).startsWith(" ") ? " " : "";
  return [space, h("span", { "data-look": look }, h("span", { class: "cs-word", text: tokenWord(pieces, id) }))];
}
