// A talk of two minutes with the two keys of a clicker, while the stage is presented: the race in slow motion with its verdict,
// a few acts of the tour, and what to remember. Who leaves that last slide goes on: a look inside the race,
// then the next example and a look inside it.

import { askForExample, askForRaceAgain, askForTalk, countSlides, hasTour } from "./bridge.js";
import { button, h, put } from "./dom.js";
import { jump, play, skip, stepReview } from "./playback.js";
import { openReview } from "./review.js";
import { playFewRounds } from "./rounds.js";
import { openSpeaker, restartClock, tellSpeaker } from "./speaker.js";
import { canReplay, isPlaying, prefersReducedMotion } from "./state.js";

const KEYS = "S: speaker\u2019s notes \u00B7 B: blank \u00B7 Esc: leave"; // until the first press
const UNSEEN = 1000; // milliseconds after the end of a replay in which a press was meant to bring that end about

// The button that does what a clicker does, on the presented stage; the first one tells that there is a talk, and how long it is.
export function createOnward(stage) {
  return button("cs-button cs-onward", "", { onclick: () => goOn(stage) });
}

// The number of the slide, as on those that follow, and the keys.
export function createSlideMarks() {
  const count = h("p", { class: "cs-slide-count" });
  const hint = h("p", { class: "cs-hint" });
  return { count, hint, box: h("div", { class: "cs-slide-marks" }, count, hint) };
}

export function drawOnward(stage) {
  const { talk, slideMarks, transport: { onward } } = stage;
  if (!stage.presenting) return;
  const slides = countSlides();
  const isUntold = slides > 0 && !talk.tour;
  const place = `${1 + talk.next} of ${1 + slides}`;
  const isBefore = stage.reviewOpen && talk.atStep;
  put(slideMarks.count, isUntold && !isBefore && stage.raceId === talk.race ? place : ""); // another race is no slide
  const waits = waitsAtStart(stage);
  stage.root.toggleAttribute("data-at-start", waits);
  put(slideMarks.hint, `Page Down: ${waits ? "start the race" : "next"} \u00B7 ${KEYS}`);
  put(onward, waits ? "Start the race \u2192" : isUntold && !isBefore ? `Talk: ${place} \u2192` : "Go on \u2192");
  onward.title = isUntold ? "A talk of two minutes: the next slide (\u2192 or Page Down)" : "What a clicker does (Page Down)";
}

// The race that a talk began with, and whether at an open step of it; whether the slides were shown, which of them is next, and
// whether one lies over the race; the race that was looked into, and whether the first one is on its way back to the stage.
export const untold = (race, atStep = false) => ({ race, atStep, tour: false, next: 0, isSlide: false, inside: "", returns: false });

// With the race on the stage; with the first one where that has no speed to tell: it was stopped, or is too short.
export function beginTalk(stage) {
  const { race, raceId, firstId, reviewOpen } = stage;
  const hasSpeed = !race.close?.headline?.few;
  stage.talk = untold(hasSpeed || reviewOpen ? raceId : firstId, reviewOpen);
  if (!bringBack(stage)) tellRace(stage);
}

// The first slide waits at the start of its race, so that the hall can say which lane will be first. A step that somebody stopped
// at stays.
function tellRace(stage) {
  const isAtStep = stage.reviewOpen || (stage.time !== Infinity && !isPlaying(stage) && !stage.opening);
  if (!isAtStep && !prefersReducedMotion()) jump(stage, 0);
}

export const waitsAtStart = (stage) => stage.time === 0 && !isPlaying(stage) && !stage.reviewOpen;

export function goOn(stage) {
  if (!canReplay(stage)) return;
  hideHint(stage);
  if (!isPlaying(stage) && stage.reviewOpen) leaveReview(stage);
  else if (waitsAtStart(stage)) play(stage, 0);
  else if (stage.time !== Infinity) skip(stage); // steps belong to the arrows
  else if (performance.now() - stage.endedAt > UNSEEN) tellNext(stage);
}

export function goBack(stage) {
  const { talk, reviewOpen, time } = stage;
  if (reviewOpen) openReview(stage, false);
  else if (talk.tour && !talk.inside && time === Infinity) openSlides(stage, -1);
  else if (talk.next && time === Infinity) openSlides(stage, talk.next - 1);
  else stepReview(stage, -1);
}

// From its beginning, with the race that it began with.
export function beginAgain(stage) {
  if (!canReplay(stage)) return;
  openReview(stage, false);
  restartClock(stage);
  stage.talk = untold(stage.talk.race);
  if (bringBack(stage)) return;
  if (prefersReducedMotion()) play(stage, 0);
  else jump(stage, 0);
}

// Where another race is on the stage, the one that the talk began with comes back. Returns whether it has to.
function bringBack({ talk, raceId }) {
  talk.returns = hasTour() && raceId !== talk.race;
  if (talk.returns) askForRaceAgain(talk.race);
  return talk.returns;
}

// Called when a race has come to the stage.
export function welcomeBack(stage) {
  const { talk, raceId, presenting } = stage;
  if (!presenting || !talk.returns || raceId !== talk.race) return;
  talk.returns = false;
  tellRace(stage);
}

// The last slide; where there are no slides, the end of the race.
export function goToEnd(stage) {
  jump(stage, Infinity);
  if (hasTour()) openSlides(stage, -1);
}

export function hideHint({ root }) {
  root.setAttribute("data-pressed", "");
}

// The slides of the tour, from the first one on, or from the last one.
function openSlides(stage, from) {
  const { talk } = stage;
  Object.assign(talk, { tour: true, isSlide: true });
  const leaveAt = (slide) => { // to the race that the talk began with, or to another one
    const isOver = slide >= countSlides();
    Object.assign(talk, { tour: isOver, isSlide: false, next: isOver ? 0 : slide });
    if (!slide) bringBack(stage);
    stage.draw();
  };
  const again = () => beginAgain(stage);
  const end = () => stage.transport.present.click(); // "Leave", while presenting
  askForTalk(from, { leaveAt, again, end, tell: (note) => tellSpeaker(stage, note), openNotes: () => openSpeaker(stage) });
}

// A talk that begins at an open step goes on to the race, and one that has looked into a race is done with it.
function leaveReview(stage) {
  const { talk } = stage;
  const { atStep } = talk;
  talk.atStep = false;
  openReview(stage, false);
  if (atStep && !talk.tour && hasTour() && !prefersReducedMotion()) return play(stage, 0);
  if (stage.talk.inside === stage.raceId && stage.bridge.names) askForExample(stage);
}

function tellNext(stage) {
  const { talk, bridge, raceId } = stage;
  if (!talk.tour && hasTour()) openSlides(stage, talk.next);
  else if (talk.inside !== raceId || !bridge.names) {
    talk.inside = raceId;
    openReview(stage, true);
    playFewRounds(stage);
  } else askForExample(stage);
}
