// What one wrong guess would cost: the step as if the target's reviewer had rejected the guess at place j, counted from 0. Pure.

import { isReview, tokensOf } from "./records.js";

export const WRONG = -1; // the id of the token that stands in place of the guess; no vocabulary has it

// Only a guess that was kept can be spoiled: what the target writes in its place is then known.
export function spoilStep(step, j) {
  const { r: root } = step.line;
  const spoiled = { ...root, ...replaceAt(root, root.at + j), ok: j, y: root.x[j] };
  return { ...step, line: { ...step.line, x: step.line.x.slice(0, j + 1), r: spoiled } };
}

// The record with WRONG at a position, as far down as it was passed up from there.
function replaceAt(record, at) {
  const end = isReview(record) ? record.at + record.ok : Infinity; // of the tokens that it passed up
  if (at > end) return record;
  if (at === end) return record.y === undefined ? record : { ...record, y: WRONG };
  const made = { ...record };
  if (record.x) made.x = tokensOf(record).map((id, j) => (record.at + j === at ? WRONG : id));
  if (record.in) made.in = record.in.map((inner) => replaceAt(inner, at));
  return made;
}
