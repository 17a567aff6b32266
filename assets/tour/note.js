// What a speaker says on a slide of a talk: the words of the act, of which the slide itself shows less, and its question.

import { actOf, choicesOf, isAnswered, isAsked, questionOf } from "./visit.js";

export function noteOf(visit) {
  const act = actOf(visit);
  const text = (part) => act.querySelector(part)?.textContent ?? "";
  return { place: text(".tour-count"), title: text("h2"), say: [text(".tour-text"), ...asked(visit)], next: nextOf(visit) };
}

// Also where the slide does not ask it: somebody in the hall may.
function asked(visit) {
  const question = questionOf(visit);
  const choices = choicesOf(question);
  if (!choices.length) return [];
  const right = choices.find((choice) => choice.hasAttribute("data-right")).querySelector("span").textContent;
  const ask = isAsked(visit) ? "Question" : "You may ask";
  return [`${ask}: ${question.querySelector(".tour-ask p").textContent}`, `Answer: ${right}. ${question.querySelector(".tour-answer").dataset.answer}`];
}

function nextOf(visit) {
  const { acts, route, current } = visit;
  if (!isAnswered(visit)) return "the answer";
  return acts[route[route.indexOf(current) + 1]]?.querySelector("h2").textContent ?? "";
}
