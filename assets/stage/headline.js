// The result in large type over the lanes. What it says is written by csd/stage/headline.py; it appears at the end of
// the race and of its replay. Until then the idea stands there, and beside it the bet.

import { clearBet, createBet, drawBet } from "./bet.js";
import { h, put } from "./dom.js";

export const IDEA = ["A cascade: small models guess ahead, bigger ones check.", "Same text, fewer runs of the big model."];

export function createHeadline(stage) {
  const headline = {
    subject: h("small"), // whose speed it is
    factor: h("p", { class: "cs-factor" }),
    text: h("p", { class: "cs-same" }),
    words: h("p", { class: "cs-words" }),
    flags: h("span", { class: "cs-flags" }),
    bet: createBet(stage),
  };
  headline.box = h("section", { class: "cs-headline", "aria-label": "Result" },
    h("div", { class: "cs-hero" }, headline.subject, headline.factor),
    h("div", { class: "cs-told-result" },
      h("div", { class: "cs-verdict" }, headline.text, headline.bet.said), headline.words),
    h("div", { class: "cs-before" },
      h("p", { class: "cs-idea" }, h("b", { text: IDEA[0] }), ` ${IDEA[1]}`), headline.bet.box));
  return headline;
}

export function clearHeadline(stage) {
  const { headline } = stage;
  for (const node of [headline.subject, headline.factor, headline.text, headline.words]) put(node, "");
  clearBet(stage);
  headline.box.dataset.shown = "false";
}

// Fills in what the race came to; `drawHeadline` shows it.
export function fillHeadline({ headline, race }) {
  const { text, same, subject, factor, told, reason, flags, few, beaten } = race.close.headline || {};
  put(headline.subject, factor ? `${subject}${beaten ? ", beaten" : ""}` : "");
  put(headline.factor, factor || "");
  put(headline.text, same ? `\u2713 ${text}` : text || "");
  headline.text.dataset.same = String(Boolean(same));
  put(headline.flags, (flags || []).join("; "));
  headline.box.toggleAttribute("data-few", Boolean(few || (flags || []).length)); // its number is in grey
  headline.box.toggleAttribute("data-beaten", Boolean(beaten)); // another lane was faster
  headline.words.replaceChildren((told || []).join(" "), headline.flags,
    ...(reason ? [h("span", { class: "cs-reason", text: reason })] : []));
}

export function drawHeadline(stage) {
  const { headline, mode, race } = stage;
  drawBet(stage);
  headline.box.dataset.shown = String(mode === "done" && Boolean(race.close));
}
