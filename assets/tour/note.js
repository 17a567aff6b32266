// What a speaker says on a slide of a talk, and until when: sentences to be said aloud, and the question of the act.

import { actOf, choicesOf, questionOf } from "./visit.js";

export function noteOf(visit) {
  const act = actOf(visit);
  const text = (part) => act.querySelector(part)?.textContent ?? "";
  const spoken = act.querySelector(".tour-say");
  const say = spoken ? [...spoken.children].map((line) => line.textContent) : [text(".tour-text")];
  return { place: text(".tour-count"), title: text("h2"), say: [...say, ...asked(visit)], until: spoken?.dataset.until ?? "", next: nextOf(visit) };
}

// The question that the tour asks here, for who has more time.
function asked(visit) {
  const question = questionOf(visit);
  const choices = choicesOf(question);
  if (!choices.length || actOf(visit).dataset.show === "result") return []; // which is about a cascade that the hall has not seen
  const right = choices.find((choice) => choice.hasAttribute("data-right")).querySelector("span").textContent;
  return [`You may ask: ${question.querySelector(".tour-ask p").textContent}`, `Answer: ${right}. ${question.querySelector(".tour-answer").dataset.answer}`];
}

function nextOf(visit) {
  const { acts, route, current } = visit;
  return acts[route[route.indexOf(current) + 1]]?.querySelector("h2").textContent ?? "";
}
