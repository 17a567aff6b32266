import assert from "node:assert/strict";
import { test } from "node:test";
import { actAt, lengthOf, openingActs, playedAt, timeAt } from "../../assets/stage/opening.js";
import { race } from "./race.mjs";

const [alone, cascade] = race().lanes; // the cascade's only step: guesses from 0.2 s, a check from 0.22 s, an end at 0.245 s
const lane = { ...cascade, clock: 0.4 };
const USUAL = 0.05; // the speed of its replay
const acts = openingActs(lane, USUAL);
const round = (seconds) => Number(seconds.toFixed(6));

test("the opening tells of guesses, of their check, and of what it gave", () => {
  assert.deepEqual(acts.map(({ says }) => says), ["guesses", "checks", "gives", "gives"]);
  assert.deepEqual(acts.map(({ from, until }) => [from, until].map(round)), [[0.2, 0.22], [0.22, 0.245], [0.245, 0.245], [0.245, 0.4]]);
});

test("its acts follow one another, and its clock stands still in the third", () => {
  acts.slice(1).forEach(({ at }, i) => assert.equal(round(at), round(acts[i].at + acts[i].seconds)));
  assert.equal(round(timeAt(acts, 0)), 0.2);
  assert.equal(round(timeAt(acts, acts[1].at)), 0.22);
  assert.equal(timeAt(acts, acts[2].at), timeAt(acts, acts[2].at + acts[2].seconds / 2));
  assert.equal(round(timeAt(acts, 1000)), 0.4, "and it ends where its lane does");
  assert.equal(actAt(acts, 1000), acts.at(-1));
});

test("a stage that goes on at a time finds its place in the opening", () => {
  for (const played of [0, 1, 3, 6, lengthOf(acts)]) assert.equal(round(playedAt(acts, timeAt(acts, played))), round(played));
  assert.equal(playedAt(acts, 0), 0, "while the prompt was read");
  assert.equal(playedAt(acts, 9), lengthOf(acts));
});

test("a step without guesses has no opening, nor one that the eye can follow", () => {
  assert.deepEqual(openingActs(alone, USUAL), []);
  assert.deepEqual(openingActs({ ...lane, steps: [{ ...lane.steps[0], until: 10 }] }, 1), []);
  assert.deepEqual(openingActs({ steps: [], clock: 0 }, USUAL), []);
});
