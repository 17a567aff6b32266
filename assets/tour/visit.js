// A visit of the tour or of its talk: the parts of the dialog, which acts it has, which one is open, and what was answered.

export function createVisit(root, logs, others) {
  const dialog = root.querySelector("dialog");
  const [lose, again, back, next, place] = [".tour-lose", ".tour-again", ".tour-back", ".tour-next", ".cascade-stage"].map((one) => root.querySelector(one));
  return {
    root, dialog, lose, again, back, next, place,
    logs, // of each act but the closing one
    others, // of each act: those with which its boundary can be moved, or the one that comes with its answer
    acts: [...root.querySelectorAll("section")],
    questions: [...root.querySelectorAll(".tour-question")],
    tried: [...root.querySelectorAll(".tour-tried")],
    route: [], // the acts of this visit, as indices: all but the closing one, or those of a talk
    current: 0,
    stage: null, // made when the tour is opened for the first time
    moving: 0, // the timer of the picture that is about to move
    isMoved: false, // whether the reader has moved a boundary: what changes is seen at once
    resting: 0, // the timer of the pointer, see slide.js
    scrolledTo: 0, // where the page was when the tour was opened, in pixels
    talk: null, // while a talk is given: what it knows of the races on the page, see talk.js
    given: null, // the talk that was given last
  };
}

export const isTalk = ({ talk }) => talk !== null;
export const actOf = ({ acts, current }) => acts[current];
export const questionOf = ({ questions, current }) => questions[current];
export const triedOf = ({ tried, current }) => tried[current];

// Where the act stands in the route.
export const placeOf = ({ route, current }) => route.indexOf(current);
export const isLast = (visit) => placeOf(visit) === visit.route.length - 1;

export function choicesOf(question) {
  return [...question.querySelectorAll(".tour-choices button")];
}

// A talk asks nothing: each press is a slide.
export function isAsked(visit) {
  return choicesOf(questionOf(visit)).length > 0 && !isTalk(visit);
}

export function isAnswered(visit) {
  return !isAsked(visit) || questionOf(visit).hasAttribute("data-answered");
}

// To a race on the page, which writes its own address; going back takes a moment.
export function leaveFor(visit, race) {
  const { dialog, talk } = visit;
  talk?.leaveAt(placeOf(visit) + 1);
  visit.talk = null;
  history.replaceState(null, "");
  dialog.close();
  window.dispatchEvent(race);
}

// The browser's Back closes the tour, and leaves the page where it is.
export function leave({ dialog }) {
  if (history.state?.tour) history.back();
  else dialog.close();
}
