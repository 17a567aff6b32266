import assert from "node:assert/strict";
import { test } from "node:test";
import { countRight, NONE, pendingGuesses } from "../../assets/stage/pending.js";
import { race } from "./race.mjs";

const [, cascade] = race().lanes;
const at = (time) => pendingGuesses(cascade, 0, time);
const ids = (guesses) => guesses.cells.map(({ id }) => id);

test("guesses grow, and a reviewer replaces those that it rejects", () => {
  assert.equal(at(0.1), NONE); // it still reads the prompt
  assert.deepEqual(ids(at(0.2)), []);
  assert.deepEqual(ids(at(0.2025)), [1, 9]); // copied
  assert.deepEqual(at(0.2125).cells, [{ id: 1, who: "MaxGram" }, { id: 2, who: "mid" }]);
  assert.deepEqual(ids(at(0.2185)), [1, 2, 3]);
  assert.deepEqual(ids(at(0.2195)), [1, 2, 3, 8, 7]);
});

test("guesses that the target checks stay until it has done so", () => {
  assert.deepEqual([at(0.2195).isChecked, at(0.23).isChecked], [false, true]);
  assert.deepEqual(ids(at(0.23)), [1, 2, 3, 8, 7]);
  assert.equal(pendingGuesses(cascade, 1, 0.25), NONE); // there is no further step
});

test("guesses are right as far as the lane goes on to write them", () => {
  assert.equal(countRight(at(0.2025), cascade), 1);
  assert.equal(countRight(at(0.23), cascade), 3);
  assert.equal(countRight(NONE, cascade), 0);
});
