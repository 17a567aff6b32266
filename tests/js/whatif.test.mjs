import assert from "node:assert/strict";
import { test } from "node:test";
import { tellOrigin } from "../../assets/controls/sliders.js";
import { axisEnd } from "../../assets/theory/curves.js";
import { around, boxOf, placeLabels } from "../../assets/theory/places.js";
import { axisEnd as timeEnd } from "../../assets/theory/picture.js";
import { costRows, countsOf, describeSource, explain, factor, finding, headline, tellBetter, tellGaps, tellGuesses, tellPast, tellOver, tellWhose } from "../../assets/theory/words.js";
import { withLength } from "../../assets/theory/whatif.js";

const curve = (speed, more = {}) => ({ xs: [1, 2], ys: [speed, 1], at: 0, round: { tokens: 5, passes: 2.5 }, ...more });

test("the title compares the two with the current settings", () => {
  const alone = "as fast as the big model alone";
  assert.equal(headline([curve(2), curve(1.5)]), `The cascade should be 2.0× ${alone}, and 1.3× as fast as speculative decoding.`);
  assert.equal(headline([curve(1.5), curve(2)]), `The cascade should be 1.5× ${alone}; speculative decoding should be faster, at 2.0×.`);
  assert.match(headline([curve(2), curve(2.05)]), /, about the same as speculative decoding\.$/);
  const lost = (ys, other = ys) => headline([curve(0, { ys, at: 1 }), curve(0, { ys: other, at: 1 })]);
  assert.equal(lost([0.9, 0.7]), `The cascade should be 0.7× ${alone}: with these numbers, guessing ahead does not pay.`);
  assert.match(lost([0.9, 0.7], [1.2, 0.8]), /: this plan does not pay\. Guessing fewer tokens would\.$/);
  assert.match(lost([1.05, 0.7]), /Guessing fewer tokens would break even\.$/);
  assert.equal(headline([curve(3, { alone: 1 }), curve(2, { ys: [1, 2], at: 1 })]),
    `This plan should be 3.0× ${alone}. It is speculative decoding with 1 guess: 1.5× as fast as with 2.`);
});

test("speculative decoding is compared with the number of guesses that is best for it", () => {
  const badly = curve(0.8, { ys: [0.8, 1.25] });
  assert.match(headline([curve(1.6), badly]), /, and 1\.3× as fast as speculative decoding with k = 2\.$/);
  assert.match(headline([curve(1.1), badly]), /; speculative decoding with k = 2 should be faster, at 1\.3×\.$/);
  assert.match(headline([curve(1.6), curve(1.2, { ys: [1.2, 1.22] })]), /1\.3× as fast as speculative decoding\.$/, "not clearly better");
});

test("only a cascade that beats both is shown as a winner", () => {
  assert.ok(finding([curve(2), curve(1.5)]).wins);
  for (const other of [2, 3]) assert.ok(!finding([curve(2), curve(other)]).wins);
  assert.ok(!finding([curve(0.8), curve(0.7)]).wins);
});

test("the speed is explained, with a better first number where there is one", () => {
  assert.equal(explain([curve(2)]), "A step of this cascade brings 5.0 tokens; the big model alone writes 2.5 in that time. 5.0 / 2.5 = 2.0×.");
  assert.match(explain([curve(2, { ys: [2, 3] })]), /With 2 guesses first, the cascade would be 3.0×\.$/);
  assert.equal(tellBetter([curve(2, { ys: [2, 3] }), curve(1, { ys: [1, 1.6] })]),
    "With 2 guesses first, the cascade would be 3.0×; speculative decoding 1.6× with k = 2.");
  assert.equal(tellBetter([curve(2), curve(1, { ys: [1, 1.6] })]), "Speculative decoding would be 1.6× with k = 2.");
});

test("the equation of a step is right as it is written, with the speed-up that the verdict tells", () => {
  assert.deepEqual(countsOf(12.44, 4.5), ["12.4", "4.5"]);
  assert.deepEqual(countsOf(12.44, 4.54), ["12.44", "4.54"], "12.4 / 4.5 would be 2.8, and it is 2.7");
  for (let passes = 1; passes < 9; passes += 0.037) {
    for (let tokens = 1; tokens < 20; tokens += 0.113) {
      const [brought, runs] = countsOf(tokens, passes);
      assert.equal(factor(brought / runs), factor(tokens / passes), `${brought} / ${runs}`);
    }
  }
});

test("the picture of a step is told in words, and its costs level by level", () => {
  assert.equal(tellGuesses([0.93, 0.5, 0.001]), "How often the guess at each position is kept: 1: 93%, 2: 50%. The big model adds a token of its own.");
  assert.match(tellGuesses([]), /kept: never\./);
  const levels = [["mid", "small model"], ["small", "tiny model"], ["MaxGram", "copier"]].map(([name, role]) => ({ name, role }));
  const runs = { mid: { count: 6.69, each: 0.178, cost: 1.19 }, MaxGram: { count: 40, each: 0, cost: 0 } };
  const told = (review) => costRows({ runs, review }, levels, "big model").map(({ role, told, cost }) => [role, told, cost]);
  assert.deepEqual(told({ guesses: 13, each: 0.054, cost: 1.7 }), [["small model", "6.7 runs × 0.178", 1.19], ["tiny model", "takes no part", null],
    ["copier", "lookups, counted as free", 0], ["big model", "1 run, and 13.0 guesses × 0.054", 1.7]]);
  assert.deepEqual(told({ guesses: 13, each: 0, cost: 1 }).at(-1), ["big model", "1 run", 1]);
});

test("guesses beyond the plan are explained below the picture", () => {
  assert.equal(tellPast(16, 16), "");
  assert.equal(tellPast(4, 7, "small model"), "Guesses 5 to 7 go past the plan\u2019s 4: the small model checks in groups, and adds a token of its own to each.");
  assert.match(tellPast(4, 5, "small model"), /^Guess 5 goes past/);
});

test("the axis of time grows with the bar, and shrinks only where the bar is short", () => {
  assert.deepEqual([timeEnd(1.2, 0), timeEnd(2.9, 2), timeEnd(2.1, 4), timeEnd(2.1, 16)], [2, 4, 4, 4]);
});

test("the Race tab's speed-up is told apart from the plan's", () => {
  const adaptive = { name: "adaptive cascade", speedup: 3.03 };
  assert.equal(tellWhose([adaptive], false), "The Race tab\u2019s 3.0× is the adaptive cascade\u2019s, measured; this plan was not in that race.");
  const fixed = { name: "cascade", speedup: 0.27 };
  assert.equal(tellWhose([fixed, adaptive], false), "The Race tab\u2019s 0.3× is another plan\u2019s, measured.");
  assert.match(tellWhose([{ name: "speculative", speedup: 2 }], false), /^Predicted only/);
  assert.deepEqual([tellWhose([], false), tellWhose([fixed, adaptive], true)], ["", ""], "the chart says what was measured");
  assert.equal(tellBetter([curve(2)]), "", "the first number is the best one");
});

test("what is far from its prediction has the reason, and an adaptive cascade its sentence", () => {
  const near = { name: "speculative", predicted: 2.41, speedup: 2.53, gap: "", about: "" };
  const far = { name: "cascade", predicted: 2.3, speedup: 3, gap: "right guesses came in streaks", about: "" };
  const adaptive = { name: "adaptive cascade", predicted: null, speedup: 3, gap: "", about: "No plan is fixed." };
  assert.equal(tellGaps([near]), "");
  const [fast, slow] = [{ ...near, name: "cascade", predicted: 2.8, speedup: 3 }, { ...near, name: "speculative", predicted: 2.06, speedup: 1.9 }];
  assert.equal(tellGaps([fast, slow]), "", "the chart shows it");
  assert.equal(tellGaps([far, fast, slow, adaptive], true), "No plan is fixed.", "the prediction is no longer the race's");
  assert.equal(tellGaps([near, far, adaptive]), "The cascade was faster in the race than predicted: right guesses came in streaks. No plan is fixed.");
  assert.equal(tellGaps([{ ...far, name: "speculative" }, far]), "Both were faster in the race than predicted: right guesses came in streaks.");
  assert.match(tellGaps([{ ...far, name: "speculative", speedup: 2 }]), /^Speculative decoding was slower /);
});

test("nothing that was moved is called measured", () => {
  const still = { plan: false, numbers: false };
  const measured = { isMeasured: true, wasStopped: false };
  assert.match(describeSource(measured, still), /from the race\u2019s averages$/);
  assert.match(describeSource(measured, { ...still, plan: true }), /for your plan/);
  assert.match(describeSource({ ...measured, wasStopped: true }, still), /^predicted roughly from the averages of a stopped race$/);
  for (const isMeasured of [true, false]) assert.doesNotMatch(describeSource({ isMeasured }, { plan: true, numbers: true }), /measured/);
  assert.match(describeSource({ isMeasured: false }, still), /no race has measured/);
  assert.equal(tellOrigin({ value: 0.9, began: 0.9, origin: "measured" }), "", "the chart says so");
  assert.equal(tellOrigin({ value: 0.8, began: 0.9, origin: "measured" }), "assumed; the race measured 0.9");
  assert.equal(tellOrigin({ value: 0.8, began: 0.9, origin: "usual" }), "assumed; usual is 0.9");
  assert.equal(tellOrigin({ value: 0.8, began: 0.9, origin: "" }), "");
});

test("the axis ends at one of a few values", () => {
  assert.deepEqual([axisEnd([1, 1.5]), axisEnd([1, 1.95]), axisEnd([60])], [2, 3, 66]);
});

const areApart = (one, other) => one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top;

const isClearOf = (box, [x, y]) => x < box.left || x > box.right || y < box.top || y > box.bottom;

const farOf = (box, heights, x) => Math.min(...heights.map((y) => Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom))));

// The boxes of labels, {lines, x, ys, side}, placed.
function boxesOf(labels, size, plot, points, symbols) {
  const choices = labels.map(({ lines, x, ys, side }) => around(x, ys, side, lines, size, symbols.filter(([, y]) => !ys.includes(y))));
  return placeLabels(choices, size, plot, points, symbols).map((place) => boxOf(place, place.lines, size));
}

function checkApart(boxes, symbols) {
  for (const box of boxes) for (const symbol of symbols) assert.ok(isClearOf(box, symbol));
  for (const [i, one] of boxes.entries()) for (const other of boxes.slice(i + 1)) assert.ok(areApart(one, other));
}

test("a label covers neither a symbol nor another label where there is another place", () => {
  const plot = { left: 0, right: 400, top: 0, bottom: 200 };
  const symbols = [[200, 100], [200, 70]];
  const labels = [["predicted 1.51×"], ["predicted 1.40×", "measured 1.3×"], ["measured"]].map((lines) => ({ lines, x: 200, ys: [70, 100], side: "above" }));
  checkApart(boxesOf(labels, 15, plot, [], symbols), symbols);
  const [{ x, y, anchor }] = placeLabels([around(200, [100], "above", ["1.51×"], 15)], 15, plot, [], [[200, 100]]);
  assert.deepEqual([x, y, anchor], [200, 87, "middle"], "the first place, where it is free");
});

test("a label stays close to its symbol, though it lies over curves there", () => {
  const plot = { left: 42, right: 490, top: 4, bottom: 160 };
  const across = (y) => Array.from({ length: 100 }, (_, i) => [42 + 4.5 * i, y]);
  const points = [40, 60, 75, 90, 100, 115, 125, 135, 145, 152, 155].flatMap(across); // everywhere but at the top
  for (const heights of [[150, 146, 75, 45], [150, 110, 106, 60], [156, 156, 30, 90]]) {
    const at = [140, 260, 260, 140];
    const labels = heights.map((y, i) => ({ lines: ["predicted 0.21×"], x: at[i], ys: [y], side: "below" }));
    const symbols = heights.map((y, i) => [at[i], y]);
    const boxes = boxesOf(labels, 17, plot, points, symbols);
    checkApart(boxes, symbols);
    boxes.forEach((box, i) => assert.ok(farOf(box, [heights[i]], at[i]) <= 42));
  }
});

test("a label at the edge is moved into the plot", () => {
  const plot = { left: 40, right: 230, top: 0, bottom: 190 };
  const labels = ["predicted 0.13×", "measured 1.33×"].map((text) => ({ lines: [text], x: 45, ys: [150], side: "below" }));
  const boxes = boxesOf(labels, 17, plot, [], [[45, 150]]);
  checkApart(boxes, [[45, 150]]);
  for (const box of boxes) assert.ok(box.left >= plot.left && box.right <= plot.right && box.top >= plot.top && box.bottom <= plot.bottom);
});

test("a plan of another length keeps what the later drafters add", () => {
  const of = (K, x) => JSON.parse(withLength({ draft: "mid", k: 4, K, sliders: null }, x).K);
  assert.deepEqual(of([[4, 6, 8], [0, 1, 2], [0, 0, 1]], 8), [[8, 10, 12], [0, 1, 2], [0, 0, 1]]);
  assert.deepEqual(of([[0, 6, 8], [0, 1, 2], [0, 0, 1]], 2), [[0, 2, 4], [0, 1, 2], [0, 0, 1]]);
  assert.deepEqual(of([[4, 60], [0, 1]], 32), [[32, 64], [0, 1]], "as far as K goes");
});

test("the axis of the chart names the guesser that both methods begin with", () => {
  const roles = { small: "small model", tiny: "tiny model" };
  const small = { name: "small", k: 8, below: [] };
  assert.equal(tellOver([small], "small", roles), "guesses of the small model, k");
  assert.equal(tellOver([small, { name: "tiny", k: 6, below: [] }, { name: "MaxGram", k: 2, below: [] }], "small", roles), "guesses of the small model, k");
  assert.equal(tellOver([small], "tiny", roles), "guesses of the first guesser, k");
});
