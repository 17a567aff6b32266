import assert from "node:assert/strict";
import { test } from "node:test";
import { ablate, axisLength, budget, formatK, isSamePlan, moveEnd, parseK, takesPart } from "../../assets/controls/cumulative.js";
import { addFindings, counting, tellModels } from "../../assets/controls/puzzles.js";
import { inRange, keepNumbers } from "../../assets/controls/sliders.js";

const K = [[16, 16, 20], [0, 0, 7], [0, 0, 0]];

test("K is read as csd.decoding.k_matrix reads it", () => {
  assert.deepEqual(parseK("[[16,16,20],[0,0,7],[0,0,0]]", 3), K);
  const wrong = ["", "[[", "7", "null", "[[1,2],[0,1]]", "[[2,1,3],[0,0,0],[0,0,0]]", "[[1,1,1],[1,1,1],[0,0,0]]",
    "[[0,0,0],[0,0,7],[0,0,0]]", "[[1,2,65],[0,0,0],[0,0,0]]", "[[1,2,2.5],[0,0,0],[0,0,0]]", '[[1,2,"3"],[0,0,0],[0,0,0]]'];
  for (const text of wrong) assert.equal(parseK(text, 3), null, text);
  assert.equal(formatK(K), "[[16,16,20],[0,0,7],[0,0,0]]");
});

test("a moved end takes the others along, so that K stays cumulative", () => {
  assert.deepEqual(moveEnd(K, 0, 0, 4)[0], [4, 16, 20]);
  assert.deepEqual(moveEnd(K, 0, 0, 22)[0], [22, 22, 22]);
  assert.deepEqual(moveEnd(K, 0, 2, 3)[0], [3, 3, 3]);
  assert.deepEqual(moveEnd(K, 1, 1, 9)[1], [0, 9, 9]);
  assert.deepEqual(moveEnd(K, 1, 2, 0)[1], [0, 0, 0]);
  assert.equal(K[0][0], 16);
});

test("an end stays within its limits, and the target is always handed something", () => {
  assert.deepEqual(moveEnd(K, 0, 2, -5)[0], [1, 1, 1]);
  assert.deepEqual(moveEnd(K, 0, 0, -5)[0], [0, 16, 20]);
  assert.deepEqual(moveEnd(K, 2, 2, 1000)[2], [0, 0, 64]);
  for (const c of [0, 1, 2]) for (let to = -3; to < 70; to++) assert.ok(parseK(formatK(moveEnd(K, 0, c, to)), 3));
});

test("who takes part, and with how much", () => {
  assert.deepEqual([budget(K, 0, 0), budget(K, 0, 1), budget(K, 0, 2), budget(K, 1, 2)], [16, 0, 4, 7]);
  assert.deepEqual(takesPart(K), [true, true, false]);
  assert.deepEqual(takesPart([[0, 4, 8], [0, 3, 5], [0, 0, 8]]), [true, false, true]);
});

test("the parts of a cascade", () => {
  const full = [[4, 6, 8], [0, 1, 2], [0, 0, 1]];
  assert.deepEqual(ablate(full, "vertical"), [[4, 4, 4], [0, 1, 1], [0, 0, 1]]);
  assert.deepEqual(ablate(full, "horizontal"), [[4, 6, 8], [0, 0, 0], [0, 0, 0]]);
  assert.deepEqual(ablate(full, "lookup"), [[0, 0, 8], [0, 0, 0], [0, 0, 0]]);
  assert.deepEqual(ablate(full, "both"), full);
  assert.deepEqual(ablate(K, "vertical"), [[16, 16, 16], [0, 0, 7], [0, 0, 0]]);
  assert.deepEqual(ablate([[0, 4, 8], [0, 9, 9], [0, 0, 3]], "vertical"), [[0, 4, 4], [0, 0, 0], [0, 0, 3]]);
});

test("a part that is the whole plan is known, whatever those who take no part would do", () => {
  assert.ok(!["vertical", "horizontal", "lookup"].some((part) => isSamePlan(ablate(K, part), K)));
  const alone = [[5, 5, 5], [0, 0, 0], [0, 0, 9]];
  assert.ok(["vertical", "horizontal"].every((part) => isSamePlan(ablate(alone, part), alone)));
  assert.ok(!isSamePlan(ablate(alone, "lookup"), alone));
});

test("the axis has room beyond the longest block", () => {
  assert.equal(axisLength(K), 24);
  assert.equal(axisLength([[16, 16, 21], [0, 0, 7], [0, 0, 0]]), 32);
  assert.equal(axisLength([[64, 64, 64], [0, 0, 0], [0, 0, 0]]), 64);
});

test("a number out of range becomes the nearest one, with a sentence", () => {
  assert.deepEqual(inRange("0.7", { low: 0, high: 1 }), { number: 0.7, note: "" });
  assert.deepEqual(inRange("7", { low: 0, high: 1 }), { number: 1, note: "From 0 to 1: 7 became 1." });
  assert.deepEqual(inRange("-1", { low: 0.01, high: 1 }).number, 0.01);
  for (const text of ["", "  ", "e", "-"]) assert.equal(inRange(text, { low: 0, high: 1 }), null);
});

test("a late answer switches sliders off, but does not bring back an earlier number", () => {
  const sliders = (value, unused) => [{ sliders: [{ key: "a", value, unused }, { key: "b", value: 0.5, unused: "" }] }];
  const answer = { groups: sliders(0.919, "nobody asks"), edit: 1, answers: 1 };
  assert.deepEqual(keepNumbers({ groups: sliders(1, ""), edit: 2 }, answer), { groups: sliders(1, "nobody asks"), edit: 2 });
});

test("a new race solves the chosen puzzle alone", () => {
  const found = { lose: { solved: true, said: "0.9" }, length: { solved: true, said: "2.6" } };
  const keys = (value, chosen, seen = []) => Object.keys(counting(value, chosen, new Set(seen)));
  assert.deepEqual(keys({ race: "a", found }, null), []);
  assert.deepEqual(keys({ race: "a", found }, "length"), ["length"]);
  const won = { lose: { solved: false, said: "1.2" } };
  assert.deepEqual(keys({ race: "a", found: won }, null), []);
  assert.deepEqual(keys({ race: "a", found: won }, "lose"), ["lose"]);
  assert.deepEqual(keys({ race: "a", found }, "lose", ["a"]), []);
  assert.deepEqual(keys({ race: "", found }, "lose"), []);
  assert.deepEqual(keys({ race: "", found: { predict: { solved: true, said: "2" } } }, null), ["predict"]);
  assert.deepEqual(addFindings({ lose: "first" }, found), { lose: "first", length: "2.6" });
});

test("a puzzle says which other models race, and the way back", () => {
  assert.equal(tellModels("SmolLM2 135M", " Back to demo models"),
    "Your races run SmolLM2 135M now. Press “Back to demo models” for those of the page.");
  assert.equal(tellModels(undefined, " Back to demo models"), "");
});
