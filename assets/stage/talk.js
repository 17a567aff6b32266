// A talk of two minutes with the two keys of a clicker, while the stage is presented: the verdict, a few acts of the tour with
// their answers, and what to remember. Who leaves that last slide goes on: a look inside the race, then the next example and a
// look inside it.

import { askForExample, askForTalk, countSlides, hasTour } from "./bridge.js";
import { button, put } from "./dom.js";
import { skip, stepReview } from "./playback.js";
import { openReview } from "./review.js";
import { playFewRounds } from "./rounds.js";
import { canReplay, isPlaying } from "./state.js";

// The button that does what a clicker does, on the presented stage; the first one tells that there is a talk, and how long it is.
export function createOnward(stage) {
  return button("cs-button cs-onward", "", { onclick: () => goOn(stage) });
}

export function drawOnward(stage) {
  const { talk, transport: { onward } } = stage;
  if (!stage.presenting) return;
  const slides = countSlides();
  const isUntold = slides > 0 && !talk.tour;
  put(onward, isUntold ? `Talk: 1 of ${1 + slides} \u2192` : "Go on \u2192");
  onward.title = isUntold ? "A talk of two minutes: the next slide (\u2192 or Page Down)" : "What a clicker does (Page Down)";
}

export const untold = () => ({ tour: false, inside: "" }); // whether the tour was shown, and the race that was looked into

export function goOn(stage) {
  if (!canReplay(stage)) return;
  if (!isPlaying(stage) && stage.reviewOpen) leaveReview(stage);
  else if (stage.time !== Infinity) skip(stage); // steps belong to the arrows
  else tellNext(stage);
}

export function goBack(stage) {
  const { talk, reviewOpen, time } = stage;
  if (reviewOpen) openReview(stage, false);
  else if (talk.tour && !talk.inside && time === Infinity) askForTalk(-1, () => untell(talk));
  else stepReview(stage, -1);
}

// Back at the race that the talk began with.
function untell(talk) {
  talk.tour = false;
}

// A talk that has looked into a race is done with it.
function leaveReview(stage) {
  openReview(stage, false);
  if (stage.talk.inside === stage.raceId && stage.bridge.names) askForExample(stage);
}

function tellNext(stage) {
  const { talk, bridge, raceId } = stage;
  if (!talk.tour && hasTour()) {
    talk.tour = true;
    askForTalk(0, () => untell(talk));
  } else if (talk.inside !== raceId || !bridge.names) {
    talk.inside = raceId;
    openReview(stage, true);
    playFewRounds(stage);
  } else askForExample(stage);
}
