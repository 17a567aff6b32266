// The guided tour: acts on small recorded races, in a dialog. csd/stage/tour.py joins these modules into one script that
// defines CascadeTour.
//
//   visit       the parts of the dialog, the acts of this visit, and which one is open
//   picture     the stage of an act, which moves once and rests
//   trying      what the reader tries on it
//   question    and what the reader is asked
//   talk        a talk of two minutes, as slides
//   slide       an act while the stage is presented
//   acts, keys  from act to act
//
// Escape and Close end the tour. An act with a recipe has a button for it: the tour ends, and the page races, see
// assets/page/racing.js.

import { goBack, goOn, show } from "./acts.js";
import { listenToKeys } from "./keys.js";
import { halt, mountPicture, run } from "./picture.js";
import { answer } from "./question.js";
import { point, rested, unblank } from "./slide.js";
import { beginTalk, resumeTalk, routeOfTalk } from "./talk.js";
import { tryOut } from "./trying.js";
import { choicesOf, createVisit, isAnswered, isLast, isTalk, leave, leaveFor, placeOf, questionOf } from "./visit.js";

export function start(root, logs, others) {
  const visit = createVisit(root, logs, others);
  const { dialog, lose, again, back, next, tried } = visit;
  root.querySelector("#tour-start").addEventListener("click", () => openTour(visit));
  window.addEventListener("cascade-talk", ({ detail }) => openTalk(visit, detail));
  root.querySelector(".tour-close").addEventListener("click", () => leave(visit));
  window.addEventListener("popstate", () => shut(visit));
  dialog.addEventListener("cancel", (event) => { // Escape
    event.preventDefault();
    leave(visit);
  });
  dialog.addEventListener("close", () => dialog.open || close(visit));
  lose.addEventListener("click", () => leaveFor(visit, new Event("cascade-lose")));
  again.addEventListener("click", () => run(visit, 0));
  back.addEventListener("click", () => goBack(visit));
  next.addEventListener("click", ({ detail }) => isMeant(visit, detail) && goOn(visit));
  for (const group of tried) group.addEventListener("click", ({ target }) => target.matches("button") && tryOut(visit, target));
  root.querySelector(".tour-asked").addEventListener("click", ({ target }) => {
    const choice = target.closest(".tour-choices button");
    if (choice) answer(visit, choice);
  });
  dialog.addEventListener("pointermove", ({ movementX, movementY }) => (movementX || movementY) && point(visit));
  dialog.addEventListener("pointerdown", () => unblank(visit));
  listenToKeys(visit);
}

function openTour(visit) {
  visit.talk = null;
  visit.route = visit.acts.map((_, i) => i).filter((i) => visit.acts[i].dataset.show !== "closing");
  open(visit, 0);
}

// `from` is a place in the talk, from its end if negative.
function openTalk(visit, { from, ...calls }) {
  if (from === 0 || !visit.given) visit.given = beginTalk(calls);
  else resumeTalk(visit.given);
  visit.talk = visit.given;
  visit.route = routeOfTalk(visit.acts);
  open(visit, from);
}

function open(visit, from) {
  const { dialog, route, stage } = visit;
  visit.scrolledTo = scrollY;
  dialog.toggleAttribute("data-talk", visit.talk !== null);
  dialog.showModal();
  history.pushState({ ...history.state, tour: true }, "");
  if (!stage) mountPicture(visit);
  rested(visit);
  show(visit, route.at(from));
}

// The event of a dialog that closes comes a frame later, and a key that is pressed before it must find the talk where it was left.
function shut(visit) {
  if (!visit.dialog.open) return;
  visit.dialog.close();
  close(visit);
}

function close(visit) {
  if (isTalk(visit)) visit.talk.leaveAt(placeOf(visit) + (isLast(visit) ? 1 : 0));
  unblank(visit);
  halt(visit);
  visit.stage?.pause();
  scrollTo(0, visit.scrolledTo); // the focus that goes back may have moved it
}

// The second half of a double click would skip the answer that the first has brought.
function isMeant(visit, clicks) {
  return clicks <= 1 || !isAnswered(visit) || choicesOf(questionOf(visit)).length === 0;
}
