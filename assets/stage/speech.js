// What screen readers are told: a live region that nobody sees.

import { h, put } from "./dom.js";
import { tokenFacts } from "./facts.js";
import { formatSeconds } from "./format.js";
import { tellReview } from "./narrate.js";
import { isPlaying, selectedStep } from "./state.js";
import { quoteToken } from "./text.js";

export function createSpeech() {
  return h("p", { class: "cs-hidden", "aria-live": "polite" });
}

export function say(stage, text) {
  put(stage.speech, text);
}

// One sentence for the open review, while nothing plays.
export function sayReview(stage) {
  const step = selectedStep(stage);
  if (isPlaying(stage) || !step) return;
  const { lane } = stage.view;
  const where = `Review ${step.number} of ${lane.steps.length}, ${lane.info.method}`;
  say(stage, `${where}, measured ${formatSeconds(step.line.d)}. ${tellReview(stage.race, step)}`);
}

export function sayToken(stage, token) {
  const facts = tokenFacts(stage.race, token).slice(2);
  const told = facts.map(([name, value]) => `${name} ${value}`).join("; ");
  say(stage, `Token ${token.position + 1}: ${quoteToken(stage.race.pieces, token.id)}, ${told}.`);
}
