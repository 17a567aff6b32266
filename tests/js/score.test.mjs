import assert from "node:assert/strict";
import { test } from "node:test";
import { reviewScore } from "../../assets/stage/score.js";
import { race, raceOf } from "./race.mjs";

test("a box per round with what it passed up, and what became of it", () => {
  const made = race();
  const score = reviewScore(made, made.lanes[1].steps[0]);
  assert.deepEqual(score.boxes.map(({ mark, from, to, cells }) => [mark, from, to, cells.map((cell) => cell.fate)]), [
    ["0", 2, 4, ["kept", "rejected"]],
    ["2", 2, 4, ["kept", "kept"]],
    ["1", 4, 5, ["kept"]],
    ["0", 5, 7, ["rejected", "unjudged"]],
    ["T", 2, 6, ["text", "text", "text", "text"]],
  ]);
  assert.deepEqual([score.from, score.to], [2, 7]);
  assert.deepEqual(score.boxes.map((box) => box.judged), [1, 4, 4, 4, 4]);
  assert.deepEqual(score.boxes[1].cells.map((cell) => cell.own), ["", "correction"]);
  assert.deepEqual(score.costs.get("0").runs, 2);
});

// A race whose last step has guesses that the level above made useless, and others in their places.
function corrected() {
  const guess = (at, ids) => ({ by: "MaxGram", at, x: ids, who: "MaxGram", c: 0.3, d: 0 });
  const tiny = { by: "small", at: 5, x: [9], who: "MaxGram", ok: 0, y: 7, c: 0.3, d: 0.01, in: [guess(5, [9])] };
  const first = { by: "mid", at: 3, x: [1, 2, 7], who: ["MaxGram", "MaxGram", "small"], ok: 0, y: 4, c: 0.3, d: 0.01, in: [guess(3, [1, 2]), tiny] };
  return raceOf({ x: [4, 1, 2], who: ["mid", "MaxGram", "MaxGram"], ok: 1, y: 2, in: [first, guess(4, [1, 2])] });
}

test("guesses behind one that a level below the target rejected are gone, and so is what was guessed before them", () => {
  const made = corrected();
  const { boxes, from, to } = reviewScore(made, made.lanes[0].steps[1]);
  assert.deepEqual(boxes.map(({ mark, from: at, cells }) => [mark, at, cells.map(({ gone }) => gone)]), [
    ["0", 3, [Infinity, 3]], // the first is rejected in sight
    ["0", 5, [3]],
    ["1", 5, [3]],
    ["2", 3, [Infinity]],
    ["0", 4, [Infinity, Infinity]], // rejected by the target
    ["T", 3, [Infinity, Infinity]],
  ]);
  assert.deepEqual([from, to], [3, 6]);
});

test("such guesses beyond the block have no place in it, and are counted", () => {
  const guess = (at, ids) => ({ by: "MaxGram", at, x: ids, who: "MaxGram", c: 0.3, d: 0 });
  const first = { by: "mid", at: 3, x: [1, 2, 7], who: "MaxGram", ok: 0, y: 4, c: 0.3, d: 0.01, in: [guess(3, [1, 2, 7])] };
  const made = raceOf({ x: [4], who: "mid", ok: 1, y: 2, in: [first] });
  const { boxes, to } = reviewScore(made, made.lanes[0].steps[1]);
  assert.deepEqual(boxes.map(({ cells, cut }) => [cells.length, cut]), [[2, 1], [1, 0], [2, 0]]);
  assert.equal(to, 5);
});

test("in every round a level has at most one guess at a position", () => {
  const seen = new Set();
  const made = corrected();
  const { boxes } = reviewScore(made, made.lanes[0].steps[1]);
  for (const round of boxes.keys()) {
    for (const { order, mark, cells } of boxes) {
      for (const { at, gone } of cells) {
        if (order > round || gone < round) continue;
        const place = `${round} ${mark} ${at}`;
        assert.ok(!seen.has(place), place);
        seen.add(place);
      }
    }
  }
});

test("a review without a draft is one box with one token", () => {
  const made = race();
  const score = reviewScore(made, made.lanes[0].steps[0]);
  assert.deepEqual([score.boxes.length, score.from, score.to], [1, 2, 3]);
  assert.deepEqual(score.boxes[0].cells, [{ at: 2, id: 1, who: "target", own: "own", fate: "text", gone: Infinity }]);
});

test("a round that passed nothing up has an empty box", () => {
  const empty = { by: "MaxGram", at: 3, c: 0.3, d: 0 };
  const made = raceOf({ ok: 0, y: 2, in: [empty] });
  assert.deepEqual(reviewScore(made, made.lanes[0].steps[1]).boxes[0].cells, []);
});
