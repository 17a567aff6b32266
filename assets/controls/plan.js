// What K says, in sentences: who writes how many tokens for whom, and who takes no part.

import { budget, takesPart } from "./cumulative.js";

// `target` is the role of the target, such as "big model"; `levels` are the drafters as {role}, the copier last.
export function planWords(K, target, levels) {
  const active = takesPart(K);
  const reviewers = [target, ...levels.slice(0, -1).map(({ role }) => role)].map((role, r) => ({
    role, asked: levels.map((level, c) => ({ role: level.role, tokens: c < r || !active[r] ? 0 : budget(K, r, c) })).filter(({ tokens }) => tokens),
  }));
  const [first, ...drafts] = reviewers;
  const said = [`In each step ${series("writes", first.asked)}; the ${target} checks them all.`];
  for (const { role, asked } of drafts) {
    if (asked.length) said.push(`The ${role} is helped too: for each of its runs ${series("guesses", asked)}.`);
  }
  const used = new Set(reviewers.flatMap(({ asked }) => asked.map(({ role }) => role)));
  const idle = levels.filter(({ role }) => !used.has(role)).map(({ role }) => role);
  if (idle.length) said.push(`The ${idle.join(" and the ")} ${idle.length === 1 ? "takes" : "take"} no part.`);
  return said.join(" ");
}

const series = (verb, asked) => asked.map(({ role, tokens }, i) =>
  (i ? `the ${role} up to\u00a0${tokens}` : `the ${role} ${verb} up to ${tokens} ${tokens === 1 ? "token" : "tokens"}`)).join(", then ");
