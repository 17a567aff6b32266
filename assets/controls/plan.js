// What K says, in words: who checks how many guesses of whom, and who takes no part.

import { budget, takesPart } from "./cumulative.js";
import { make } from "./elements.js";

// `target` is the role of the target, such as "big model"; `levels` are the drafters as {role, look}, the copier last. A row for
// each level that takes part as a reviewer: {role, asked}, with whom it asks as {role, look, tokens}, in order; and for each
// that takes no part at all: {role, asked: null}.
export function planRows(K, target, levels) {
  const active = takesPart(K);
  const reviewers = [target, ...levels.slice(0, -1).map(({ role }) => role)].map((role, r) => ({
    role, asked: levels.map((level, c) => ({ ...level, tokens: c < r || !active[r] ? 0 : budget(K, r, c) })).filter(({ tokens }) => tokens),
  }));
  const used = new Set(reviewers.flatMap(({ asked }) => asked.map(({ role }) => role)));
  const idle = levels.filter(({ role }) => !used.has(role)).map(({ role }) => ({ role, asked: null }));
  return [...reviewers.filter(({ asked }) => asked.length), ...idle];
}

// The rows as a list of terms.
export function listPlan(rows) {
  return rows.flatMap(({ role, asked }) => [make("dt", {}, role), make("dd", {}, ...(asked ? tellAsked(asked) : ["takes no part"]))]);
}

function tellAsked(asked) {
  return ["checks ", ...asked.flatMap(({ role, look, tokens }, i) => [
    i ? ", " : "", make("span", {}, make("i", { "data-look": look }), `${tokens} from ${role}`),
  ])];
}
