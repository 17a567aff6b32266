// Guesses that wait for the target's check: those of the step that a lane is at, as they stand at a time. Pure.

import { authorOf, flattenRecords, isReview, tokensOf } from "./records.js";

export const NONE = { cells: [], from: 0, isChecked: false };

// Returns {cells: [{id, who}], from, isChecked}: the guesses from token `from` of the lane on, and whether the target is checking them.
export function pendingGuesses({ steps }, shown, time) {
  const step = steps[shown];
  if (!step || time < step.line.c) return NONE;
  const root = step.line.r;
  const cells = [];
  for (const { record } of flattenRecords(root)) {
    const start = record.at - root.at;
    if (record === root || record.c + record.d > time || start > cells.length) continue; // the last: its beginning was dropped
    const kept = isReview(record) ? record.ok : tokensOf(record).length;
    const passed = tokensOf(record).slice(0, kept).map((id, j) => ({ id, who: authorOf(record, j) }));
    if (record.y !== undefined) passed.push({ id: record.y, who: record.by });
    cells.splice(start, Infinity, ...passed); // what follows a wrong guess falls with it
  }
  return { cells, from: step.from, isChecked: time >= root.c };
}

// How many of the guesses from the first one on are tokens that the lane goes on to write.
export function countRight({ cells, from }, { tokens }) {
  const wrong = cells.findIndex(({ id, who }, j) => tokens[from + j]?.id !== id || tokens[from + j].who !== who);
  return wrong < 0 ? cells.length : wrong;
}
