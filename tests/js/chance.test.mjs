// The range of a prediction, against races of coins.

import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeOf } from "../../assets/theory/chance.js";
import { predict } from "../../assets/theory/prediction.js";

const SMALL = { name: "small", k: 3, below: [] };
const SPECULATIVE = [{ name: "mid", k: 8, below: [] }];
const CASCADE = [{ name: "mid", k: 4, below: [SMALL] }, { ...SMALL, k: 4 }];
const MODEL = { alphas: { "target accepts mid": 0.85, "target accepts small": 0.6, "mid accepts small": 0.7 }, costs: { mid: 0.2, small: 0.05 }, width: 0.02 };

// Mulberry32: the same numbers in every run.
function startDice(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

// How many of so many guesses are accepted before the first that is not.
function kept(alpha, count, dice) {
  let good = 0;
  while (good < count && dice() < alpha) good += 1;
  return good;
}

const playSpeculative = (dice) => kept(0.85, 8, dice) + 1;

// Four or more by `mid`, which checks three of `small` at a time; then `small`, up to eight in all.
function playCascade(dice) {
  let first = 0;
  while (first < 4) first += kept(0.7, 3, dice) + 1;
  const good = kept(0.85, first, dice);
  return good < first ? good + 1 : first + kept(0.6, 8 - first, dice) + 1;
}

// The speed-up of a race of so many tokens: the last round counts for the part of it that the text still needs.
function race(play, length, cost, dice) {
  let [rounds, left] = [0, length];
  while (left > 0) {
    const written = play(dice);
    rounds += Math.min(1, left / written);
    left -= written;
  }
  return length / (rounds * cost);
}

for (const [name, plan, play] of [["speculative decoding", SPECULATIVE, playSpeculative], ["a cascade", CASCADE, playCascade]]) {
  for (const length of [64, 256]) {
    test(`8 of 10 races of ${length} tokens of ${name} lie within the range`, () => {
      const dice = startDice(length);
      const { passes } = predict(plan, MODEL);
      const speeds = Array.from({ length: 5000 }, () => race(play, length, passes, dice));
      const [low, high] = rangeOf(plan, MODEL, length);
      const slower = speeds.filter((speed) => speed < low).length / speeds.length;
      const faster = speeds.filter((speed) => speed > high).length / speeds.length;
      for (const share of [slower, faster]) assert.ok(Math.abs(share - 0.1) < 0.05, `${slower} are slower, ${faster} faster`);
    });
  }
}

test("guesses that are all accepted leave nothing to chance, and a long text little", () => {
  const certain = { alphas: { "target accepts mid": 1 }, costs: { mid: 0.2 }, width: 0 };
  const { wide } = predict(SPECULATIVE, certain);
  for (const end of rangeOf(SPECULATIVE, certain, 64)) assert.ok(Math.abs(end - wide) < 1e-9);
  const [short, long] = [16, 512].map((length) => rangeOf(SPECULATIVE, MODEL, length));
  assert.ok(short[0] < long[0] && long[1] < short[1]);
});
