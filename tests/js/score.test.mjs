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

test("rounds of a level that overlap end with what was rejected", () => {
  const guess = (at, ids) => ({ by: "MaxGram", at, x: ids, who: "MaxGram", c: 0.3, d: 0 });
  const first = { by: "mid", at: 3, x: [1, 2, 3], who: "MaxGram", ok: 0, y: 4, c: 0.3, d: 0.01, in: [guess(3, [1, 2, 3])] };
  const made = raceOf({ x: [4, 1], who: "mid", ok: 2, y: 2, in: [first, guess(4, [1])] });
  const score = reviewScore(made, made.lanes[0].steps[1]);
  assert.deepEqual(score.boxes.map(({ mark, line, cut }) => [mark, line, cut]), [["0", 0, 2], ["2", 0, 0], ["0", 0, 0], ["T", 0, 0]]);
  assert.deepEqual(score.boxes[0].cells.map(({ fate }) => fate), ["rejected"]);
  assert.equal(score.lines.get("0"), 1);
  assert.equal(score.to, 6);
});

test("where they overlap all the same, they get lines of their own", () => {
  const guess = (at) => ({ by: "MaxGram", at, x: [1], who: "MaxGram", c: 0.3, d: 0 });
  const made = raceOf({ x: [4], who: "MaxGram", ok: 1, y: 2, in: [guess(3), guess(3)] });
  assert.equal(reviewScore(made, made.lanes[0].steps[1]).lines.get("0"), 2);
});

test("where they would fill many lines, those of which nothing was kept have no cells", () => {
  const guess = (at) => ({ by: "MaxGram", at, x: [1, 9], who: "MaxGram", c: 0.3, d: 0 });
  const own = (at, y) => ({ by: "mid", at, x: [1, 9], who: "MaxGram", ok: 0, y, c: 0.3, d: 0.01, in: [guess(at), guess(at), guess(at)] });
  const made = raceOf({ x: [7, 8, 4], who: "mid", ok: 1, y: 2, in: [own(3, 7), own(4, 8), own(5, 4)] });
  const score = reviewScore(made, made.lanes[0].steps[1]);
  assert.equal(score.lines.get("0"), 2);
  const copied = score.boxes.filter(({ mark }) => mark === "0");
  assert.deepEqual(copied.map(({ cells }) => cells.length), [1, 1, 0, 1, 1, 0, 0, 0, 0]);
  assert.deepEqual(copied.map(({ isLeftOut }) => isLeftOut), [false, false, true, false, false, true, true, true, true]);
  assert.deepEqual(score.boxes.filter(({ mark }) => mark === "2").map(({ cells }) => cells.length), [1, 1, 1], "what a model wrote stays");
});

test("a review without a draft is one box with one token", () => {
  const made = race();
  const score = reviewScore(made, made.lanes[0].steps[0]);
  assert.deepEqual([score.boxes.length, score.from, score.to], [1, 2, 3]);
  assert.deepEqual(score.boxes[0].cells, [{ at: 2, id: 1, who: "target", own: "own", fate: "text" }]);
});

test("a round that passed nothing up has an empty box", () => {
  const empty = { by: "MaxGram", at: 3, c: 0.3, d: 0 };
  const made = raceOf({ ok: 0, y: 2, in: [empty] });
  assert.deepEqual(reviewScore(made, made.lanes[0].steps[1]).boxes[0].cells, []);
});
