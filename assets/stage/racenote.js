// What a speaker says about the race on the stage; of the slides that follow it the tour knows, see assets/tour/note.js.

import { countSlides, titleOfSlide } from "./bridge.js";
import { tellSpeaker } from "./speaker.js";

const WATCHED = [
  "Which of these will be done first?",
  "Each row is one method. All have the same prompt and the same big model.",
  "Each black mark is a run of the big model. What is coloured was guessed by smaller models, and kept.",
];
const LENGTH = "Two minutes: a press for each slide, and one more where a race runs.";
const UNTIL = "0:20"; // on the talk's clock

// Tells it whenever the stage of a talk has changed, unless a slide lies over it.
export function drawRaceNote(stage) {
  const { presenting, talk, race } = stage;
  if (!presenting || talk.isSlide || !race.open) return;
  const [title, say, next] = stage.reviewOpen ? tellReview(stage) : stage.mode === "done" ? tellResult(stage) : tellRunning(stage);
  const slides = countSlides();
  const isSlide = slides && !talk.tour && !(stage.reviewOpen && !talk.next);
  tellSpeaker(stage, { place: isSlide ? `${1 + talk.next} of ${1 + slides}` : "", title, say, until: isSlide && !talk.next ? UNTIL : "", next });
}

function tellRunning({ headline, talk, time, frame }) {
  const isFirst = countSlides() && !talk.tour && !talk.next;
  return [headline.idea.textContent, isFirst ? [...WATCHED, LENGTH] : WATCHED, time === 0 && !frame ? "the race" : "the result"];
}

function tellResult({ talk, race, headline }) {
  const { opens, factor, lead } = race.close?.headline ?? {};
  const title = factor && lead ? `${opens} ${factor} ${lead}` : headline.lead.textContent;
  const said = [headline.why, headline.text, headline.told, headline.flags, headline.reason].map((part) => part.textContent.trim());
  const onward = talk.inside === "" ? "a look inside this race" : "the next example";
  return [title, said, talk.tour ? onward : titleOfSlide(talk.next)];
}

function tellReview({ review, talk }) {
  const onward = talk.tour ? "the next example" : talk.next ? titleOfSlide(talk.next) : "the race";
  return [review.title.textContent, [review.told.textContent, "The arrow keys go from step to step."], onward];
}
