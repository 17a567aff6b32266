// From act to act.

import { begin, draw, finish, halt, press } from "./picture.js";
import { ask, nameNext, reveal } from "./question.js";
import { makeSlide } from "./slide.js";
import { tellHere, tellWon } from "./talk.js";
import { move } from "./trying.js";
import { actOf, isAnswered, isAsked, isLast, isTalk, leave, placeOf, triedOf } from "./visit.js";

export function show(visit, act) {
  halt(visit);
  visit.current = act;
  visit.isMoved = false;
  visit.acts.forEach((one, i) => { one.hidden = i !== act; });
  visit.questions.forEach((one, i) => { one.hidden = i !== act || !isAsked(visit); });
  visit.tried.forEach((one, i) => { one.hidden = i !== act || !one.hasChildNodes(); });
  ask(visit);
  nameAct(visit);
  makeSlide(visit);
  visit.dialog.scrollTop = 0;
  visit.next.focus({ preventScroll: true });
  if (actOf(visit).dataset.show === "closing") close(visit);
  else showPicture(visit);
}

function close(visit) {
  tellWon(visit.talk, actOf(visit).querySelector(".tour-won"));
  tellHere(actOf(visit).querySelector(".tour-here"));
}

function nameAct(visit) {
  const { dialog, current, route, back, lose } = visit;
  const before = isTalk(visit) ? 1 : 0; // a talk begins with the race on the page
  dialog.setAttribute("aria-labelledby", `tour-title-${current + 1}`);
  dialog.dataset.show = actOf(visit).dataset.show;
  actOf(visit).querySelector(".tour-count").textContent = `${before + placeOf(visit) + 1} of ${before + route.length}`;
  back.disabled = placeOf(visit) === 0;
  lose.hidden = !actOf(visit).hasAttribute("data-recipe") || !document.getElementById("lose"); // a static site races nothing
  nameNext(visit);
}

function showPicture(visit) {
  const tried = triedOf(visit);
  for (const one of tried.querySelectorAll("button:not([data-step])")) delete one.dataset.more; // no time before it is tried
  const first = isTalk(visit) ? null : tried.querySelector("[data-begins]");
  if (first) move(visit, first);
  else {
    press(visit, null);
    draw(visit, `act ${visit.current + 1}`, visit.logs[visit.current]); // and rest
  }
  begin(visit);
}

export function goOn(visit) {
  if (!isAnswered(visit)) reveal(visit);
  else if (isLast(visit)) leave(visit);
  else show(visit, visit.route[placeOf(visit) + 1]);
}

// From the first slide of a talk to the race that it began with.
export function goBack(visit) {
  if (!placeOf(visit)) return void (isTalk(visit) && leave(visit));
  show(visit, visit.route[placeOf(visit) - 1]);
  if (actOf(visit).dataset.show === "result") finish(visit); // the hall has seen its race
}

// A talk at the race that it began with, the tour at its first act.
export function startAgain(visit) {
  if (!isTalk(visit)) return void show(visit, visit.route[0]);
  visit.talk.again();
  visit.talk = null;
  leave(visit);
}

export function goToEnd(visit) {
  show(visit, visit.route.at(-1));
}
