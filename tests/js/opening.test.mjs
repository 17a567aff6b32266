import assert from "node:assert/strict";
import { test } from "node:test";
import { actAt, guessesOf, isChecking, isOver, openingActs, readableGuesses, timeAt, timeOf } from "../../assets/stage/opening.js";
import { pendingGuesses } from "../../assets/stage/pending.js";
import { race } from "./race.mjs";

const [alone, cascade] = race().lanes; // the cascade's only step: guesses from 0.2 s, a check from 0.22 s, an end at 0.245 s
const later = (record, seconds) => ({ ...record, c: record.c + seconds, in: record.in?.map((one) => later(one, seconds)) });
const [first] = cascade.steps;
const second = { ...first, until: 0.345, from: first.count, line: { ...first.line, c: 0.3, r: later(first.line.r, 0.1) } }; // the same guesses once more
const lane = { ...cascade, steps: [first, second], clock: 0.4 };
const step = (until) => ({ ...alone.steps[0], until });
const plain = { ...alone, steps: [0.205, 0.21, 0.215].map(step) };
const USUAL = 0.05; // the speed of its replay
const acts = openingActs(lane, plain, USUAL);
const round = (seconds) => Number(seconds.toFixed(6));
const starts = Object.fromEntries(acts.map(({ says, at }) => [says, at]));

test("the opening tells of the big model alone, of guesses, of their check, and of what it gave", () => {
  assert.deepEqual(acts.map(({ says, from, until }) => [says, round(from), round(until)]), [
    ["alone", 0.2, 0.215], ["guesses", 0.2, 0.22], ["checks", 0.22, 0.245], ["finds", 0.245, 0.245], ["gives", 0.245, 0.245],
    ["goesOn", 0.245, 0.4], ["ends", 0.4, 0.4]]);
  const act = (name) => acts.find(({ says }) => says === name);
  assert.ok(act("finds").until < first.until, "what is found right or wrong is not written yet");
  assert.equal(act("gives").from, first.until);
});

test("its acts follow one another, and it ends where its lane does", () => {
  acts.slice(1).forEach(({ at }, i) => assert.equal(round(at), round(acts[i].at + acts[i].seconds)));
  assert.equal(round(timeAt({ acts, played: 0 })), 0.2);
  assert.equal(round(timeAt({ acts, played: starts.checks })), 0.22);
  assert.equal(timeAt({ acts, played: starts.gives }), timeAt({ acts, played: starts.gives + 0.5 }), "a rest");
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

// The guesses of the lane so many seconds after the start, and how they are drawn.
function guessesAt(played) {
  const stage = { opening: { acts, played } };
  const view = { lane };
  const time = timeAt(stage.opening);
  view.guesses = readableGuesses(stage, view, pendingGuesses(lane, lane.steps.filter(({ until }) => until <= time).length, time));
  return { ids: view.guesses.cells.map(({ id }) => id), ...guessesOf(stage, view) };
}

test("the big model checks all guesses, and strikes out those that it does not keep", () => {
  const checks = guessesAt(starts.checks);
  assert.deepEqual([checks.ids, checks.struck, checks.framed], [[1, 2, 3, 8, 7], Infinity, 5]);
  const finds = guessesAt(starts.finds);
  assert.deepEqual([finds.ids, finds.struck, finds.sure], [[1, 2, 3, 8, 7], 3, 3]);
});

test("guesses of the first step that come and go below the big model are not seen", () => {
  const shown = (guesses) => guesses.cells.map(({ id }) => id);
  const pending = pendingGuesses(lane, 0, 0.2025);
  assert.deepEqual(shown(pending), [1, 9]);
  const opening = { acts, played: starts.guesses };
  assert.deepEqual(shown(readableGuesses({ opening }, { lane }, pending)), [1], "its rejection is not told");
  assert.equal(readableGuesses({ opening: null }, { lane }, pending), pending, "in any other replay all are seen");
});

test("a run of the big model is under way while it checks", () => {
  const during = Object.keys(starts).filter((says) => isChecking({ opening: { acts, played: starts[says] } }));
  assert.deepEqual(during, ["checks", "finds"]);
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
