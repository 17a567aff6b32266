// The keyboard, and a clicker, which has the keys Page Up and Page Down.

import { goBack, goOn, goToEnd, startAgain } from "./acts.js";
import { answer } from "./question.js";
import { blank, closeKeys, isSlide, rested, toggleKeys, unblank } from "./slide.js";
import { actOf, choicesOf, isAnswered, isLast, isTalk, leaveFor, questionOf } from "./visit.js";

const MOVES = { ArrowRight: goForward, PageDown: goForward, ArrowLeft: goBack, PageUp: goBack };
const OF_A_SLIDE = { b: blank, Home: startAgain, End: goToEnd, l: lose, r: race, s: ({ talk }) => talk?.openNotes() };

export function listenToKeys(visit) {
  visit.dialog.addEventListener("keydown", (event) => press(visit, event));
}

function press(visit, event) {
  const { key } = event;
  event.stopPropagation(); // the stage of the page has its own arrow keys
  if (event.defaultPrevented) return; // the stage in the dialog took it
  rested(visit);
  if (unblank(visit)) return void event.preventDefault(); // a key brings the slide back, and does nothing else
  if (isSlide(visit) && key === "?") return void toggleKeys(visit);
  if (closeKeys(visit) && key === "Escape") return void event.preventDefault(); // which would close the slide too
  if (isTalk(visit) && key === "Escape") {
    event.preventDefault(); // it would close the slide alone
    return void end(visit);
  }
  if (isSlide(visit) && Object.hasOwn(OF_A_SLIDE, key)) return void OF_A_SLIDE[key](visit);
  if (isTalk(visit) && key === " " && !event.target.closest("button:not(.tour-next)")) { // it goes on, and does not leave the last slide
    event.preventDefault();
    return void goForward(visit);
  }
  if (Object.hasOwn(MOVES, key)) {
    event.preventDefault(); // nor does the page behind it scroll
    return void MOVES[key](visit);
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const choice = choicesOf(questionOf(visit))["123".indexOf(key)];
  if (choice && !choice.disabled) answer(visit, choice);
}

// The end of a race that a slide is about comes first; a picture that moves is whole at once. No key leaves the last act.
function goForward(visit) {
  const isRunning = isTalk(visit) && actOf(visit).dataset.show === "result" && visit.place.dataset.state === "replay";
  if (isTalk(visit)) visit.stage.endWatch();
  if (isRunning) visit.stage.skip();
  else if (!isLast(visit) || !isAnswered(visit)) goOn(visit);
}

function end({ dialog, talk }) {
  dialog.close();
  talk.end();
}

// What the page's form holds, as on the presented stage.
function race(visit) {
  if (document.getElementById("race")) leaveFor(visit, new CustomEvent("cascade-race", { detail: { example: "" } }));
}

function lose(visit) {
  if (document.getElementById("lose")) visit.lose.click();
}
