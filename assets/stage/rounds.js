// Goes through the rounds of the opened review, by hand or one after the other. A round is a run of a model, or a lookup of
// the copier. Text and bars follow, with the guesses as they stood then.

import { tellReview, tellRoundSentence } from "./narrate.js";
import { enterStep, leaveStep, pause } from "./playback.js";
import { say } from "./speech.js";
import { isPlaying, selectedStep } from "./state.js";

const LONGEST = 12000; // milliseconds for all rounds of a review
const SLOWEST = 1000; // per round
const FASTEST = 300;
const FEW = 16; // rounds that an audience waits for

// Goes one round forward or back; before the first and after the last one all are shown.
export function stepRound(stage, by) {
  const n = countRounds(stage);
  if (!selectedStep(stage) || n < 2) return;
  stop(stage);
  const to = stage.round === null ? (by > 0 ? 0 : n - 1) : stage.round + by;
  showRound(stage, to < 0 || to >= n ? null : to);
  sayRound(stage);
}

// Plays the rounds of a review that has few of them: many would leave the picture sparse for long.
export function playFewRounds(stage) {
  if (countRounds(stage) <= FEW) playRounds(stage);
}

// Plays the rounds, or stops playing them. The first one stays for so many milliseconds more; all take about `longest` at most.
export function playRounds(stage, more = 0, longest = LONGEST) {
  const wasPlaying = Boolean(stage.roundTimer);
  const n = countRounds(stage);
  stop(stage);
  if (wasPlaying || n < 2) redraw(stage);
  else {
    stage.round = null;
    showNext(stage, Math.max(FASTEST, Math.min(SLOWEST, longest / n)), more);
  }
}

// Shows all rounds at once, where they come one after the other. Returns whether they did.
export function endRounds(stage) {
  if (!stage.roundTimer) return false;
  stop(stage);
  showRound(stage, null);
  return true;
}

function showNext(stage, pace, more = 0) {
  stage.roundTimer = 0;
  const next = stage.round === null ? 0 : stage.round + 1;
  const isOver = next >= countRounds(stage);
  if (!isOver) stage.roundTimer = setTimeout(() => showNext(stage, pace), pace + more);
  showRound(stage, isOver ? null : next);
}

// All of them for null. The tour shows the whole race beside a step.
function showRound(stage, round) {
  stage.round = round;
  if (round === null) leaveStep(stage);
  else if (!stage.lasts) enterStep(stage, stage.review.score.boxes[round].record);
  stage.draw();
}

function stop(stage) {
  if (isPlaying(stage)) pause(stage);
  clearTimeout(stage.roundTimer);
  stage.roundTimer = 0;
}

// Draws although no field has changed: the button says what it does now.
function redraw(stage) {
  stage.review.drawn = "";
  stage.draw();
}

function sayRound(stage) {
  const { race, review, round } = stage;
  if (round === null) return say(stage, tellReview(race, review.step));
  const { boxes } = review.score;
  say(stage, `${round + 1} of ${boxes.length}: ${tellRoundSentence(race, boxes[round].record)}`);
}

function countRounds({ review }) {
  return review.score ? review.score.boxes.length : 0;
}
