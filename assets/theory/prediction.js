// The paper's model of speed, as in csd/theory/prediction.py and csd/theory/ewif.py: tests/site compares the numbers.
// A model is {alphas: {"target accepts mid": 0.9}, costs: {mid: 0.2}, width: 0.03}; what is missing counts as 0.

const MAX_GRAM = "MaxGram";

export const pairKey = (reviewer, drafter) => `${reviewer} accepts ${drafter}`;

// Every pair [reviewer, drafter] of a family with these drafts, those of the target first.
export function pairsOf(drafts) {
  const names = ["target", ...drafts, MAX_GRAM];
  return names.flatMap((reviewer, i) => names.slice(i + 1).map((drafter) => [reviewer, drafter]));
}

// The plan of the target's block for a cumulative K: Algorithm 1, by slicing.
export function stagesOf(drafts, K) {
  const budgets = K.map((row, r) => row.map((entry, c) => (c > r ? entry - row[c - 1] : c === r ? entry : 0)));
  return plan([...drafts, MAX_GRAM], budgets);
}

function plan(names, budgets) {
  if (!budgets.length) return [];
  return names.flatMap((name, i) => (budgets[0][i] > 0
    ? [{ name, k: budgets[0][i], below: plan(names.slice(i + 1), budgets.slice(i + 1).map((row) => row.slice(i + 1))) }]
    : []));
}

// The same plan with another length of its first stage.
export const withFirst = (stages, k) => [{ ...stages[0], k }, ...stages.slice(1)];

// Every pair that a plan uses, as keys, and the names of those who take part.
export function usedBy(stages, reviewer = "target", found = new Set()) {
  for (const stage of stages) {
    found.add(pairKey(reviewer, stage.name)).add(stage.name);
    usedBy(stage.below, stage.name, found);
  }
  return found;
}

// One round of the target: {tokens, passes, flat, wide}, the last two the speed-up without and with the cost of wide reviews.
export function predict(stages, model) {
  const block = draftAndReview("target", stages, model);
  const tokens = mean(block.emitted);
  const drafting = Object.entries(block.runs).reduce((sum, [name, runs]) => sum + runs * costOf(name, model), 0);
  const passes = drafting + 1 + model.width * mean(block.lengths);
  return { tokens, passes, flat: tokens / (drafting + 1), wide: tokens / passes };
}

export const costOf = (name, model) => model.costs[name] ?? 0;

// Distributions are arrays: the probability of each number of tokens. See csd.theory.prediction for the recursion. `runs` are
// the expected ones of every level. `watch` is told of each run of a stage: {name, alpha, emitted, at, reached, intact}, the
// last three being the length of the block before it, and how probable that length is at all and with nothing rejected.
export function draftAndReview(reviewer, stages, model, watch = () => {}) {
  const reached = [1];
  const intact = [1];
  const emitted = [];
  const runs = {};
  let goal = 0;
  for (const stage of stages) {
    goal += stage.k;
    const run = draftAndReview(stage.name, stage.below, model);
    const each = { ...run.runs, [stage.name]: 1 };
    const alpha = model.alphas[pairKey(reviewer, stage.name)] ?? 0;
    const survives = Array.from(run.emitted, (p = 0, n) => p * alpha ** n);
    const bad = firstRejection(run.emitted, alpha);
    for (let length = 0; length < goal; length++) { // upwards, since every run adds at least one token
      const here = reached[length] ?? 0;
      const good = intact[length] ?? 0;
      reached[length] = 0;
      intact[length] = 0;
      if (!here) continue;
      watch({ name: stage.name, alpha, emitted: run.emitted, at: length, reached: here, intact: good });
      for (const [name, count] of Object.entries(each)) runs[name] = (runs[name] ?? 0) + here * count;
      add(reached, run.emitted, length, here);
      add(intact, survives, length, good);
      add(emitted, bad, length, good);
    }
  }
  add(emitted, intact, 1, 1);
  return { lengths: reached, emitted, runs };
}

function firstRejection(run, alpha) {
  const found = [];
  let atLeast = 1;
  for (let j = 1; j < run.length; j++) {
    found[j] = atLeast * alpha ** (j - 1) * (1 - alpha);
    atLeast -= run[j] ?? 0;
  }
  return found;
}

function add(to, more, offset, weight) {
  more.forEach((p, tokens) => { to[tokens + offset] = (to[tokens + offset] ?? 0) + weight * p; });
}

export const mean = (distribution) => distribution.reduce((sum, p = 0, tokens) => sum + tokens * p, 0);

// ---- closed forms

const geometric = (x, n) => {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += x ** i;
  return sum;
};

// Positions in stages [alpha, c, k] (theorem 4.5). A single stage is speculative decoding (Leviathan, 3.8).
export function ewifHorizontal(stages) {
  let [tokens, cost, survives] = [1, 1, 1];
  for (const [alpha, c, k] of stages) {
    tokens += survives * alpha * geometric(alpha, k);
    survives *= alpha ** k;
    cost += c * k;
  }
  return tokens / cost;
}

export const ewifSpeculative = (alpha, c, k) => ewifHorizontal([[alpha, c, k]]);

// The vertical cascade (theorem 4.3), then `tail` more copied tokens; tail 0 leaves the vertical one.
export function ewifCombined(alpha, inner, copies, c1, c2, n, k, tail) {
  const survives = 1 + (alpha - 1) * geometric(alpha * inner, k + 1);
  const vertical = 1 + alpha * geometric(alpha * inner, k + 1) * geometric(survives, n);
  const horizontal = survives ** n * copies * geometric(copies, tail);
  return (vertical + horizontal) / (1 + n * c1 + (n * k + tail) * c2);
}

// The draft length up to `longest` with the highest speed-up; 0 where drafting does not pay.
export function bestK(alpha, c, longest) {
  let best = 0;
  for (let k = 1; k <= longest; k++) if (ewifSpeculative(alpha, c, k) > ewifSpeculative(alpha, c, best)) best = k;
  return best;
}
