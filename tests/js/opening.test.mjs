import assert from "node:assert/strict";
import { test } from "node:test";
import { actAt, isOver, openingActs, timeAt, timeOf } from "../../assets/stage/opening.js";
import { race } from "./race.mjs";

const [alone, cascade] = race().lanes; // the cascade's only step: guesses from 0.2 s, a check from 0.22 s, an end at 0.245 s
const lane = { ...cascade, clock: 0.4 };
const step = (until) => ({ ...alone.steps[0], until });
const plain = { ...alone, steps: [0.205, 0.21, 0.215].map(step) };
const USUAL = 0.05; // the speed of its replay
const acts = openingActs(lane, plain, USUAL);
const round = (seconds) => Number(seconds.toFixed(6));
const starts = Object.fromEntries(acts.map(({ says, at }) => [says, at]));

test("the opening tells of the big model alone, of guesses, of their check, and of what it gave", () => {
  assert.deepEqual(acts.map(({ says, from, until }) => [says, round(from), round(until)]), [
    ["alone", 0.2, 0.215], ["guesses", 0.2, 0.22], ["checks", 0.22, 0.245], ["finds", 0.245, 0.245], ["gives", 0.245, 0.245], ["goesOn", 0.245, 0.4],
    ["ends", 0.4, 0.4]]);
  assert.ok(acts[3].until < lane.steps[0].until, "what is found right or wrong is not written yet");
  assert.equal(acts[4].from, lane.steps[0].until);
});

test("its acts follow one another, and it ends where its lane does", () => {
  acts.slice(1).forEach(({ at }, i) => assert.equal(round(at), round(acts[i].at + acts[i].seconds)));
  assert.equal(round(timeAt({ acts, played: 0 })), 0.2);
  assert.equal(round(timeAt({ acts, played: starts.checks })), 0.22);
  assert.equal(timeAt({ acts, played: starts.gives }), timeAt({ acts, played: starts.gives + acts[4].seconds / 2 }), "a rest");
  assert.equal(round(timeAt({ acts, played: 1000 })), 0.4);
  assert.equal(actAt({ acts, played: 1000 }), acts.at(-1));
  assert.ok(isOver({ acts, played: 1000 }) && !isOver({ acts, played: starts.goesOn }));
});

test("the big model waits for the guesses where it was", () => {
  const shown = (played, one) => round(timeOf({ opening: { acts, played }, time: timeAt({ acts, played }) }, { lane: one }));
  assert.equal(shown(0, plain), 0.2);
  assert.equal(shown(starts.guesses, plain), 0.215);
  assert.equal(shown(starts.guesses, lane), 0.2);
  assert.equal(shown(starts.finds, plain), 0.245);
});

test("of many runs in the time of the step a few are seen first", () => {
  const quick = { ...alone, steps: Array.from({ length: 9 }, (_, i) => step(0.201 + i / 1000)) };
  assert.equal(round(openingActs(lane, quick, USUAL)[0].until), 0.206);
});

test("a big model whose runs take longer than the step comes in with the guesses", () => {
  for (const slow of [alone, { ...alone, steps: [0.23, 0.26].map(step) }]) {
    const [first] = openingActs(lane, slow, USUAL);
    assert.deepEqual([first.says, first.at, first.ahead], ["guesses", 0, 0]);
  }
});

test("a step without guesses has no opening, nor one that the eye can follow, nor a race without the big model alone", () => {
  assert.deepEqual(openingActs(plain, plain, USUAL), []);
  assert.deepEqual(openingActs({ ...lane, steps: [{ ...lane.steps[0], until: 10 }] }, plain, 1), []);
  assert.deepEqual(openingActs({ steps: [], clock: 0 }, plain, USUAL), []);
  assert.deepEqual(openingActs(lane, undefined, USUAL), []);
});
