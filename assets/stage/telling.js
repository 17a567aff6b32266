// Which step of a lane has most to see, and what it shows.

import { draftGroups, flattenRecords } from "./records.js";
import { selectedStep } from "./state.js";

const WIDE = 12; // tokens of a block that are read from afar
const EASY = 8; // runs of a step: those with no more are read alike

// The step whose block most levels wrote, of these the longest that is read from afar, and then the one with most guesses
// kept in fewest runs, as the picture of a horizontal cascade. Where none of those is read from afar, one that is and in
// which a guess was rejected after one that was kept, in few runs, and of those the first; in the first half of the text, where there is one. Undefined where no step has more to see than the shown one.
export function findTelling(stage) {
  const { steps } = stage.view.lane;
  const shown = selectedStep(stage);
  const worth = (step) => [countWriters(step), fitted(countGuesses(step)), step.line.r.ok, -flattenRecords(step.line.r).length];
  const isBetter = (one, other) => {
    const at = one.findIndex((value, i) => value !== other[i]);
    return at >= 0 && one[at] > other[at];
  };
  const best = steps.reduce((most, step) => (isBetter(worth(step), worth(most)) ? step : most), steps[0]);
  if (!best) return undefined;
  const isWide = countWriters(best) < 2 || countGuesses(best) > WIDE;
  const isSmall = (step) => step.line.r.ok < countGuesses(step) && countGuesses(step) <= WIDE;
  const writers = shown ? countWriters(shown) : 0;
  const small = steps.filter(isSmall);
  if (isWide && small.length) {
    const ease = (step) => [Math.min(2, countWriters(step)), Math.min(1, step.line.r.ok), -Math.max(EASY, flattenRecords(step.line.r).length)];
    const easiestOf = (some) => some.reduce((most, step) => (isBetter(ease(step), ease(most)) ? step : most));
    const isEarly = ({ number }) => number <= steps.length / 2; // later ones may be short because the text ends
    const early = small.some(isEarly) ? small.filter(isEarly) : steps.filter((step) => isEarly(step) && step.line.r.ok < countGuesses(step));
    return writers > 1 || (shown && isSmall(shown)) ? undefined : easiestOf(early.length ? early : small);
  }
  const isMore = countWriters(best) > Math.max(1, writers);
  return isMore || (shown && !countGuesses(shown) && countGuesses(best)) ? best : undefined;
}

// What a step is chosen for; empty where it has neither.
export function tellShown(step) {
  if (countWriters(step) > 1) return "vertical and horizontal";
  return step.line.r.ok < countGuesses(step) ? "a rejected guess" : "";
}

const countGuesses = ({ line }) => (line.r.x || []).length;
const fitted = (tokens) => (tokens <= WIDE ? tokens : -tokens);

function countWriters({ line }) {
  return draftGroups(line.r).length;
}
