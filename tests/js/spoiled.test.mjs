import assert from "node:assert/strict";
import { test } from "node:test";
import { reviewScore } from "../../assets/stage/score.js";
import { spoilStep, WRONG } from "../../assets/stage/spoiled.js";
import { race } from "./race.mjs";

test("a spoiled guess is rejected, those behind it are dropped, and the target writes what it would have kept", () => {
  const made = race();
  const step = made.lanes[1].steps[0];
  const { boxes } = reviewScore(made, spoilStep(step, 1));
  const target = boxes.at(-1).cells;
  assert.deepEqual(target.map(({ id, own }) => [id, own]), [[1, ""], [2, "correction"]]);
  const small = boxes.filter(({ parent }) => parent && parent.by === "target");
  assert.deepEqual(small.flatMap(({ cells }) => cells.map(({ id, fate }) => [id, fate])),
    [[1, "kept"], [WRONG, "rejected"], [3, "unjudged"], [8, "unjudged"], [7, "unjudged"]]);
  assert.deepEqual([step.line.r.ok, spoilStep(step, 1).line.x], [3, [1, 2]], "the step itself stays as it was");
});

test("the first guess may be the wrong one", () => {
  const made = race();
  const { boxes } = reviewScore(made, spoilStep(made.lanes[1].steps[0], 0));
  assert.deepEqual(boxes.at(-1).cells.map(({ id, own }) => [id, own]), [[1, "correction"]]);
});

test("what a level below had guessed there and not passed up stays as it was", () => {
  const copier = { by: "copier", at: 0, x: [1, 9, 5] };
  const small = { by: "small", at: 0, x: [1, 9, 5], ok: 1, y: 2, in: [copier] };
  const tiny = { by: "tiny", at: 2, x: [3] };
  const step = { line: { x: [1, 2, 3, 4], r: { by: "target", at: 0, x: [1, 2, 3], ok: 3, y: 4, in: [small, tiny] } } };
  const below = (j) => spoilStep(step, j).line.r.in;
  assert.deepEqual(below(2), [small, { ...tiny, x: [WRONG] }], "the copier's third guess was dropped");
  assert.deepEqual(below(1), [{ ...small, y: WRONG }, tiny], "its second was corrected");
  assert.deepEqual(below(0)[0].in, [{ ...copier, x: [WRONG, 9, 5] }], "its first was passed up");
});
