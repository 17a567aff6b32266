// The bet: while the race runs and its result is hidden, the stage asks how many times faster the cascade will be, and shows
// no factor before the answer. At the end the visitor's answer stands beside the result. It is forgotten with the race. The first race
// of a page tells the idea and asks nothing.

import { button, h, put } from "./dom.js";

const FACTORS = ["slower", "1\u00D7", "1.5\u00D7", "3\u00D7", "5\u00D7"]; // times as fast as autoregressive decoding

export function createBet(stage) {
  const bet = { factor: null, drawn: undefined, isKnown: false, isSeen: null, question: h("span"), said: h("b", { class: "cs-bet" }) };
  bet.chips = FACTORS.map((factor) => button("cs-button", factor, { onclick: () => place(stage, factor) }));
  bet.box = h("div", { class: "cs-ask", role: "group", "aria-label": "Your bet" },
    bet.question, h("span", { class: "cs-chips" }, ...bet.chips));
  return bet;
}

export function clearBet({ headline: { bet } }) {
  Object.assign(bet, { factor: null, isKnown: false, isSeen: null });
}

// Whoever comes to a place in the middle of a race, as by a link, is not asked.
export function closeBet({ headline: { bet } }) {
  bet.isKnown = true;
}

// A race that has ended too fast to be watched plays from its start.
export function reopenBet({ headline: { bet } }) {
  bet.isKnown = false;
}

// Whether a factor on the screen would give the answer away. A page may leave the question out.
export function awaitsBet(stage) {
  const { headline: { bet }, mode } = stage;
  if (mode === "done" || bet.isKnown || bet.factor || !isAsked(stage)) return false;
  bet.isSeen ??= bet.box.checkVisibility();
  return bet.isSeen;
}

export function drawBet(stage) {
  const { headline: { bet }, mode, race } = stage;
  if (mode === "done" && race.close) bet.isKnown = true;
  bet.box.hidden = !isAsked(stage);
  bet.box.toggleAttribute("data-over", bet.isKnown); // it keeps its place, so that the idea does
  put(bet.question, bet.isKnown && bet.factor ? `You said ${bet.factor}.` : `How many times as fast will the ${cascadeOf(race) || "cascade"} be?`);
  if (bet.drawn !== bet.factor) markChosen(bet);
  const factor = race.close && race.close.headline ? race.close.headline.factor : "";
  put(bet.said, bet.factor && factor ? `You said ${bet.factor}; it was ${factor}.` : "");
}

function markChosen(bet) {
  bet.drawn = bet.factor;
  for (const [i, chip] of bet.chips.entries()) chip.setAttribute("aria-pressed", String(FACTORS[i] === bet.factor));
}

// Whether there will be a factor: of a cascade over autoregressive decoding.
function isAsked({ race, raceId, firstId }) {
  if (raceId === firstId) return false;
  if (race.close && !(race.close.headline || {}).factor) return false;
  return methodsOf(race).includes("autoregressive") && Boolean(cascadeOf(race));
}

// The cascade that the result will be about: the paper's own before any other, as in csd/stage/standing.py.
function cascadeOf(race) {
  const methods = methodsOf(race);
  return methods.includes("cascade") ? "cascade" : methods.find((name) => name.endsWith("cascade"));
}

const methodsOf = ({ lanes }) => lanes.map(({ info }) => info.method);

// Pressing the chosen chip again takes the bet back.
function place(stage, factor) {
  const { bet } = stage.headline;
  bet.factor = bet.factor === factor ? null : factor;
  stage.draw();
}
