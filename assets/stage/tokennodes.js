// The tokens of a step as elements of a lane's text, with what was rejected where it was rejected.

import { h } from "./dom.js";
import { joinBreaks, joinTokens } from "./joins.js";
import { levelOf } from "./log.js";
import { directionOf, escapeControls, isEndSign, splitWhitespace, tokenText } from "./text.js";

export function createStep(race, view, step) {
  const node = h("span", { class: "cs-step" });
  const waiting = [...step.rejected];
  const last = step.line.x.length - 1;
  step.line.x.forEach((_, j) => {
    const at = race.open.start + step.from + j;
    const fallen = [];
    while (waiting.length && (waiting[0].at <= at || j === last)) fallen.push(createRejected(race, view, waiting.shift()));
    const token = createToken(race, view, view.lane.tokens[step.from + j]);
    const isSpaced = token[token.length - 1].textContent.startsWith(" ");
    for (const run of fallen) run.classList.toggle("cs-spaced", isSpaced);
    node.append(...fallen, ...token);
  });
  node.append(...waiting.map((run) => createRejected(race, view, run)));
  return node;
}

function createToken(race, view, token) {
  const [before, text] = view.detokenizer.next(token.id);
  appendRest(view, before);
  const mark = token.kind === "bonus" ? "+" : token.level.mark;
  const isFirst = !view.hasBegun;
  const isEnd = (race.open.ends || []).includes(token.id) || isEndSign(text);
  const node = h("span", {
    class: isEnd ? "cs-token cs-ending" : "cs-token", "data-level": token.level.mark, "data-look": token.level.look,
    "data-author": token.who, "data-kind": token.kind, "data-mark": mark, "data-i": token.position, tabindex: "-1",
  }, ...(isEnd ? [h("span", { class: "cs-word", text: "end" })] : wordNodes(text, mark, isFirst)));
  view.hasBegun ||= Boolean(text.trim());
  if (!view.text.dir) view.text.dir = directionOf(text);
  if (!view.hasBegun) node.classList.add("cs-leading");
  if (text === "") node.classList.add("cs-part");
  else if (text.includes("\n")) node.classList.add("cs-breaks");
  if (view.breaker.isLong(text)) node.classList.add("cs-long");
  joinBreaks(view, node, text);
  joinTokens(view.tokenNodes.at(-1), node);
  view.tokenNodes.push(node);
  return view.breaker.next(text) ? [h("wbr"), node] : [node];
}

// A token as its word, which carries its looks, behind the space before it, at which a line may end. White space is
// text that can be copied; the style sheet draws the signs for it. A token's first line break carries the token's mark
// if nothing is before it.
function wordNodes(text, mark, isFirst) {
  const space = /^ [^\s]/.test(text) ? " " : "";
  const parts = splitWhitespace(text.slice(space.length)).flatMap(([kind, part], i) => {
    if (kind === "break") return [h("i", { class: "cs-break", "data-mark": i ? null : mark }), h("span", { class: "cs-newline", text: part })];
    return kind === "space" ? [h("i", { class: "cs-space", text: part })] : [part];
  });
  const before = space && isFirst ? h("i", { class: "cs-first-space", text: space }) : space; // a text begins at the edge
  return [before, h("span", { class: "cs-word" }, ...parts)].filter(Boolean);
}

// Bytes that turned out not to be a character: they are shown at the token that left them incomplete.
export function appendRest(view, text) {
  if (!text) return;
  const node = view.tokenNodes[view.tokenNodes.length - 1];
  node.classList.remove("cs-part");
  node.lastChild.append(text);
}

function createRejected(race, view, run) {
  view.breaker.restart();
  const tokens = run.ids.flatMap((id, j) => {
    const { look, mark } = levelOf(race, run.who[j]);
    return [h("wbr"), h("span", {
      class: "cs-rejected", "data-rejected-by": run.by, "data-proposed-by": run.who[j], "data-look": look,
      "data-mark": mark, "data-r": run.index, "data-j": j, text: escapeControls(tokenText(race.pieces, id)),
    })];
  });
  const spoken = h("span", { class: "cs-hidden", text: "rejected:" });
  const counts = { "data-inner": run.inner ? "1" : null, "data-n": run.ids.length };
  return h("del", { class: "cs-fallen", ...counts }, spoken, ...tokens);
}
