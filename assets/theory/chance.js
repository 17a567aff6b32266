// How far chance alone moves the speed-up of one race from what the theory expects.

import { draftAndReview, mean, predict } from "./prediction.js";

const DEVIATIONS = 1.2816; // of a normal distribution, on either side of its mean, within which 8 of 10 lie
const MOST = 0.9; // of the expected time: a range that wide says nothing anyway

// The speed-ups between which 8 of 10 races of `length` tokens lie if guesses are accepted independently of each other. Rounds of m
// tokens on average, with the variance v, are a renewal process: N tokens take N / m rounds on average, with the variance
// N v / m^3 (Feller, An Introduction to Probability Theory, volume 2, XI.5). The cost of a round counts as fixed.
export function rangeOf(stages, model, length) {
  const { emitted } = draftAndReview("target", stages, model);
  const tokens = mean(emitted);
  const variance = emitted.reduce((sum, p = 0, n) => sum + (n - tokens) ** 2 * p, 0);
  const off = Math.min(MOST, DEVIATIONS * Math.sqrt(variance / (tokens * length)));
  const { wide } = predict(stages, model);
  return [wide / (1 + off), wide / (1 - off)];
}
