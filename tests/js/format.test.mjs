import assert from "node:assert/strict";
import { test } from "node:test";
import { percentages } from "../../assets/stage/format.js";

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

test("shares in whole percent add to 100, the largest remainders being rounded up", () => {
  assert.deepEqual(percentages([14, 35, 10, 5]), [22, 55, 15, 8], "each rounded by itself, they would add to 101");
  assert.deepEqual(percentages([1, 1, 1]), [34, 33, 33]);
  assert.deepEqual(percentages([0, 19, 0]), [0, 100, 0]);
  assert.deepEqual(percentages([0, 0]), [0, 0], "nobody has written anything yet");
  for (let n = 1; n < 200; n += 1) assert.equal(sum(percentages([n, 7, 3, n % 5, 1])), 100);
});
