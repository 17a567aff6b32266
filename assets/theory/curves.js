// The curves of a plan: the cascade's over its first number, and speculative decoding's over k.

import { rangeOf } from "./chance.js";
import { predict, stagesOf, withFirst } from "./prediction.js";

const END = 32; // tokens: the curves go at least this far
const AXIS_ENDS = [2, 3, 4, 5, 6.5, 8, 10, 12, 20, 30, 50]; // of a few, so that the axis stays while sliders move

// Each is {name, look, xs, ys, at, range}: `range` is where races of `length` tokens lie by chance, null without a length. The
// cascade's has its `round`, and how many tokens a plan of one drafter guesses `alone`, which is no cascade.
export function curvesOf(drafts, draft, k, K, model, length = 0) {
  const stages = stagesOf(drafts, K);
  const last = Math.max(END, k, stages[0].k);
  const xs = Array.from({ length: last }, (_, i) => i + 1);
  const ys = (plan) => xs.map((x) => predict(withFirst(plan, x), model).wide);
  const speculative = [{ name: draft, k, below: [] }];
  const alone = stages.length === 1 && !stages[0].below.length ? stages[0].k : 0;
  const range = (plan) => (length ? rangeOf(plan, model, length) : null);
  return [
    { name: "cascade", look: "cascade", xs, ys: ys(stages), at: stages[0].k - 1, range: range(stages), round: predict(stages, model), alone },
    { name: "speculative", look: "speculative", xs, ys: ys(speculative), at: k - 1, range: range(speculative) },
  ];
}

// Where an axis of speed-ups ends.
export function axisEnd(values) {
  const most = Math.max(...values);
  return AXIS_ENDS.find((end) => end >= 1.04 * most) ?? 1.1 * most;
}

// The model of speed that two groups of sliders describe, shares and costs.
export function modelOf({ groups: [alphas, costs] }) {
  const values = (group) => Object.fromEntries(group.sliders.map(({ key, value }) => [key, value]));
  const { width, ...passes } = values(costs);
  return { alphas: values(alphas), costs: passes, width };
}

// The plan of a curve without the number over which it runs: what was measured with another one lies on the same curve.
export function restOf(drafts, K) {
  return JSON.stringify(withFirst(stagesOf(drafts, K), 1));
}
