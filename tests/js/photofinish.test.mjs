import assert from "node:assert/strict";
import { test } from "node:test";
import { firstDone } from "../../assets/stage/photofinish.js";

// A lane that wrote its tokens in steps of `each`, one a second.
function lane(tokens, each, end = "length") {
  const steps = Array.from({ length: tokens / each }, (_, i) => ({ decodeSeconds: i + 1, count: (i + 1) * each }));
  return { tokens: Array(tokens).fill(1), steps, end, decodeSeconds: steps.length, info: { max: tokens } };
}

test("the lane that was done first is compared with where the others were then", () => {
  const fast = lane(8, 4);
  assert.equal(firstDone({ lanes: [lane(8, 1), fast] }), fast);
});

test("there is no photo where a lane had written nothing by then", () => {
  const late = { ...lane(8, 8), decodeSeconds: 9, steps: [{ decodeSeconds: 9, count: 8 }] };
  assert.equal(firstDone({ lanes: [late, lane(8, 4)] }), null);
});

test("times compare only where all wrote equally many tokens, and of more than one lane", () => {
  assert.equal(firstDone({ lanes: [lane(8, 1), lane(4, 4)] }), null);
  assert.equal(firstDone({ lanes: [lane(8, 1)] }), null);
  assert.equal(firstDone({ lanes: [lane(8, 1), lane(8, 4, "stopped")] }), null);
});
