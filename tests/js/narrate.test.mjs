import assert from "node:assert/strict";
import { test } from "node:test";
import { cellFacts, rejectedFacts, tokenFacts } from "../../assets/stage/facts.js";
import { countRuns, countTokens } from "../../assets/stage/format.js";
import { tellReview, tellRound, tellRoundSentence } from "../../assets/stage/narrate.js";
import { reviewScore } from "../../assets/stage/score.js";
import { race, raceOf } from "./race.mjs";

const plain = (text) => text.replace(/[\u2068\u2069]/g, "");
const tell = (review) => {
  const made = raceOf(review);
  return plain(tellReview(made, made.lanes[0].steps[1]));
};
const MAXGRAM = { by: "MaxGram", at: 3, c: 0.3, d: 0 };

test("a review of the target with its drafts", () => {
  const made = race();
  assert.equal(plain(tellReview(made, made.lanes[1].steps[0])),
    "The big model checked 5 guesses in one run: the first 3 were kept, and \u201Chome\u201D replaced \u201Cthen\u201D. Before that, " +
    "the small model checked 2 guesses, kept 1 and replaced \u201Cit\u201D with \u201Cfox\u201D. Then the tiny " +
    "model wrote \u201Cran\u201D on its own. Then the copier copied 2 tokens.");
});

test("reviews without a draft, with a whole draft, with one token, and at the end of the text", () => {
  assert.equal(tell({ ok: 0, y: 2 }), "The big model ran without a guess and wrote \u201Cfox\u201D.");
  assert.equal(tell({ ok: 0, y: 2, in: [MAXGRAM] }),
    "The big model ran without a guess and wrote \u201Cfox\u201D. Before that, the copier found nothing to copy.");
  assert.equal(tell({ x: [2, 3], who: "mid", ok: 2, y: 4 }),
    "The big model checked 2 guesses in one run: all were kept, and it added \u201Chome\u201D.");
  assert.equal(tell({ x: [2], who: "mid", ok: 1 }),
    "The big model checked one guess in one run: it was kept; the text ends there.");
  assert.equal(tell({ x: [2, 3], who: "mid", ok: 0, y: 4 }),
    "The big model checked 2 guesses in one run: none was kept, and \u201Chome\u201D replaced \u201Cfox\u201D.");
});

test("neighbouring rounds of one drafter are told together", () => {
  const round = (at, x, ok, y) => ({ by: "mid", at, x, who: "MaxGram", ok, y, c: 0.3, d: 0.01 });
  const own = (at, y) => ({ by: "mid", at, ok: 0, y, c: 0.3, d: 0.01 });
  assert.match(tell({ x: [1, 2, 3], who: "mid", ok: 3, y: 4, in: [round(3, [1, 9], 1, 2), round(5, [], 0, 3)] }),
    / Before that, the small model wrote 3 tokens in 2 runs: 2 of its own, and 1 that the copier guessed\.$/);
  const wrong = { ...round(5, [8], 0, 3), who: "small" };
  assert.match(tell({ x: [1, 2, 3], who: "mid", ok: 3, y: 4, in: [round(3, [1, 9], 1, 2), wrong] }),
    / 2 of its own, and 1 that the copier guessed\.$/, "of who guessed nothing right nothing is said");
  assert.match(tell({ x: [1, 2], who: "mid", ok: 2, y: 4, in: [own(3, 1), own(4, 2)] }),
    / Before that, the small model wrote 2 tokens, one at a time\.$/);
  const copied = { ...MAXGRAM, at: 6, x: [4, 5], who: "MaxGram" };
  assert.match(tell({ x: [1, 2, 3, 4, 5], who: "mid", ok: 5, y: 6, in: [round(3, [1, 9], 1, 2), round(5, [], 0, 3), copied] }),
    / The guesses came from the small model \(3, 2 of them its own\) and the copier \(2\)\.$/, "of several drafters shares are told");
  assert.match(tell({ x: [1, 2, 4, 5], who: "mid", ok: 4, y: 6, in: [own(3, 1), own(4, 2), { ...copied, at: 5 }] }),
    / from the small model \(2, all its own\) and the copier \(2\)\.$/);
});

test("a skipped round says why; a sentence begins with a capital, and numbered drafts have no article", () => {
  const made = race();
  assert.equal(tellRound(made, { by: "mid", ok: 0, s: "its context is full" }), "the small model was skipped: its context is full");
  assert.equal(tellRoundSentence(made, { by: "target", ok: 0, y: 2 }).slice(0, 19), "The big model wrote");
  made.levels.set("mid", { ...made.levels.get("mid"), role: "draft 3" });
  assert.equal(plain(tellRoundSentence(made, { by: "mid", ok: 0, y: 2 })), "Draft 3 wrote \u201Cfox\u201D on its own.");
});

test("facts on a token, a rejected token and a cell", () => {
  const made = race();
  const lane = made.lanes[1];
  assert.deepEqual(tokenFacts(made, lane.tokens[3]), [
    ["", "The big model wrote it itself, in place of a wrong guess."],
    ["token", "\u00B7home"], ["position", "4 in the answer, 6 including the prompt"],
    ["corrected by", "the big model"],
  ]);
  const [inner, outer] = lane.rejected;
  assert.deepEqual(rejectedFacts(made, inner, 0)[0], ["", "The copier copied it, as it followed the same words before; the small model rejected it."]);
  assert.deepEqual(rejectedFacts(made, inner, 0).slice(3),
    [["guessed by", "the copier"], ["rejected by", "the small model, p 0.100, q 1.00"]]);
  assert.deepEqual(rejectedFacts(made, outer, 1)[0], ["", "The copier copied it, as it followed the same words before; it was dropped, because a guess before it was wrong."]);
  const step = lane.steps[0];
  const box = reviewScore(made, step).boxes[0];
  const facts = cellFacts(made, step, box, 1);
  assert.deepEqual(facts[0], ["", "The copier copied it, as it followed the same words before; the small model rejected it."]);
  assert.deepEqual(facts[3], ["move", "1, of the copier"]);
  made.levels.set("mid", { ...made.levels.get("mid"), role: "draft 3" });
  assert.equal(rejectedFacts(made, inner, 0)[0][1], "The copier copied it, as it followed the same words before; draft 3 rejected it.");
});

test("one of a kind is no plural", () => {
  assert.deepEqual([countTokens(1, "prompt"), countTokens(2)], ["1 prompt token", "2 tokens"]);
  assert.deepEqual([countRuns(1, "T"), countRuns(2, "1"), countRuns(1, "0")], ["1 run", "2 runs", "1 lookup"]);
});
