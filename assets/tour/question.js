// The question of an act: nobody leaves it without its answer.

import { noteOf } from "./note.js";
import { draw, finish, halt, showAnswer } from "./picture.js";
import { tryAsked } from "./trying.js";
import { choicesOf, isAnswered, isLast, isTalk, questionOf } from "./visit.js";

export function ask(visit) {
  const question = questionOf(visit);
  if (!choicesOf(question).length) return;
  question.removeAttribute("data-answered");
  for (const choice of choicesOf(question)) {
    choice.disabled = false;
    choice.removeAttribute("data-taken");
  }
  question.querySelector(".tour-answer").replaceChildren();
}

// The choices stay: which was taken, and which is right.
export function answer(visit, choice) {
  const { next, others, current } = visit;
  const question = questionOf(visit);
  const said = question.querySelector(".tour-answer");
  const isRight = choice.hasAttribute("data-right");
  const verdict = document.createElement("b");
  verdict.textContent = isRight ? "Right." : `Not quite. The answer is \u201C${rightOf(question)}\u201D.`;
  verdict.toggleAttribute("data-right", isRight);
  question.toggleAttribute("data-answered", true);
  choice.toggleAttribute("data-taken", true);
  for (const one of choicesOf(question)) one.disabled = true;
  visit.isMoved = true; // the words tell what the picture comes to, so it is whole at once
  halt(visit);
  if (!tryAsked(visit)) {
    if (others[current].length) draw(visit, `act ${current + 1}, answered`, others[current][0]);
    else finish(visit);
  }
  nameNext(visit);
  said.replaceChildren(verdict, ` ${said.dataset.answer}`);
  showAnswer(visit);
  next.focus({ preventScroll: true });
}

// For who goes on and chooses nothing.
export function reveal(visit) {
  const question = questionOf(visit);
  answer(visit, question.querySelector("[data-right]"));
  const right = rightOf(question);
  question.querySelector(".tour-answer b").textContent = `${right[0].toUpperCase()}${right.slice(1)}.`;
}

// What Next does.
export function nameNext(visit) {
  visit.next.textContent = !isAnswered(visit) ? "Show answer" : isLast(visit) ? "Done" : "Next";
  visit.next.toggleAttribute("data-answers", !isAnswered(visit)); // a guess of one’s own comes first
  if (isTalk(visit)) visit.talk.tell(noteOf(visit));
}

const rightOf = (question) => question.querySelector("[data-right] span").textContent;
