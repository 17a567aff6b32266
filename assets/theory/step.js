// One step of a plan, taken apart: how probable each guess is, and is kept, and what each level costs. The sums are what
// `predict` says of the step: the guesses that are kept and the big model's own token, and the time in runs of the big model.

import { costOf, draftAndReview, mean } from "./prediction.js";

// Returns {tokens, passes, guesses, runs, review}: of `guesses`, by position, {written, kept}, each by who hands them up; of
// `runs`, by level, {count, each, cost}; and the big model's `review`, {guesses, each, cost}.
export function stepOf(stages, model) {
  const guesses = [];
  const block = draftAndReview("target", stages, model, (run) => addRun(guesses, run));
  const runs = Object.fromEntries(Object.entries(block.runs).map(([name, count]) => {
    const each = costOf(name, model);
    return [name, { count, each, cost: count * each }];
  }));
  const drafted = mean(block.lengths);
  const review = { guesses: drafted, each: model.width, cost: 1 + model.width * drafted };
  const passes = Object.values(runs).reduce((sum, { cost }) => sum + cost, review.cost);
  return { tokens: 1 + guesses.reduce((sum, { kept }) => sum + total(kept), 0), passes, guesses, runs, review };
}

// A run writes its j-th token where it writes j or more; the token is kept where the big model accepts all j, and all before.
function addRun(guesses, { name, alpha, emitted, at, reached, intact }) {
  let atLeast = 1;
  for (let j = 1; j < emitted.length; j++) {
    const { written, kept } = (guesses[at + j - 1] ??= { written: {}, kept: {} });
    written[name] = (written[name] ?? 0) + reached * atLeast;
    kept[name] = (kept[name] ?? 0) + intact * atLeast * alpha ** j;
    atLeast -= emitted[j] ?? 0;
  }
}

// Over all who may hand up a guess.
export const total = (shares) => Object.values(shares).reduce((sum, share) => sum + share, 0);
