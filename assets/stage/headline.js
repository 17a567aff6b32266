// The result in large type over the lanes. What it says is written by csd/stage/headline.py; it appears at the end of
// the race and of its replay. Until then only the runs of the target are counted.

import { h, put } from "./dom.js";
import { levelOf } from "./log.js";

export function createHeadline() {
  const headline = {
    subject: h("small"), // whose speed it is
    factor: h("p", { class: "cs-factor" }),
    text: h("p", { class: "cs-same" }),
    words: h("p", { class: "cs-words" }),
    flags: h("span", { class: "cs-flags" }),
    bet: h("p", { class: "cs-bet" }),
    passes: h("p", { class: "cs-passes" }),
    counts: [], // of the target's passes, one node per lane
  };
  headline.box = h("section", { class: "cs-headline", "aria-label": "Result" },
    h("div", { class: "cs-hero" }, headline.subject, headline.factor),
    h("div", { class: "cs-told-result" }, headline.text, headline.words, headline.bet), headline.passes);
  return headline;
}

export function openHeadline({ headline, race, views }) {
  clearHeadline({ headline });
  headline.counts = views.map(() => h("b", { text: "0" }));
  const arrows = headline.counts.flatMap((node, i) => (i ? [h("i", { text: " \u2192 " }), node] : [node]));
  const names = race.open.lanes.map((lane) => lane.method).join(", ");
  headline.passes.replaceChildren(h("span", { text: "runs of the big model" }), h("span", {}, ...arrows));
  headline.passes.title = `Forward passes of the target in each lane: ${names}`;
}

export function clearHeadline({ headline }) {
  for (const node of [headline.subject, headline.factor, headline.text, headline.words, headline.bet]) put(node, "");
  headline.passes.replaceChildren();
  headline.counts = [];
  headline.box.dataset.shown = "false";
}

// Fills in what the race came to; `drawHeadline` shows it.
export function fillHeadline({ headline, race }) {
  const { text, same, subject, factor, words, also, flags } = race.close.headline || {};
  put(headline.subject, factor ? subject : "");
  put(headline.factor, factor || "");
  put(headline.text, same ? `\u2713 ${text}` : text || "");
  headline.text.dataset.same = String(Boolean(same));
  put(headline.flags, (flags || []).join("; "));
  const rest = (also || []).map((one) => `, ${one}`).join("");
  headline.words.replaceChildren(words ? `${words}${rest}` : rest.slice(2), headline.flags);
  put(headline.bet, tellBet(factor));
}

export function drawHeadline({ headline, mode, race, views }) {
  const isOver = mode === "done" && Boolean(race.close);
  headline.box.dataset.shown = String(isOver);
  headline.counts.forEach((node, i) => put(node, String(countPasses(race, views[i]))));
}

function countPasses(race, { lane, shown }) {
  const [first] = lane.steps;
  return first && levelOf(race, first.line.r.by).mark === "T" ? shown : 0;
}

// What the visitor bet before the race, beside what it came to.
function tellBet(factor) {
  if (!factor) return "";
  try {
    const bet = localStorage.getItem("cascade-bet");
    return bet ? `You said ${bet}\u00D7; it was ${factor}.` : "";
  } catch {
    return ""; // storage may be blocked in a frame
  }
}
