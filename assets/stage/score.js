// A review laid out as a score: a row for each level, a column for each position of the block, a box for each round.

import { authorOf, flattenRecords, isReview, tokenKind, tokensOf } from "./records.js";
import { levelOf } from "./log.js";

const CROWDED = 16; // positions from which on a block has a tail
const TAIL = 3; // positions from the target's correction on that are before it

// Returns {root, from, to, tail, boxes, costs}. `from` and `to` are positions; `costs` holds {seconds, runs} by mark. A box
// holds what its round passed up; boxes are in the order in which the rounds ended. Of guesses that a correction below the target
// made useless, `gone` says in which round that was: without them a level has at most one guess at a position; how many of them
// went beyond the block is `cut`. From `tail` on no review of the target reached a long block: it has only what the target was given.
export function reviewScore(race, step) {
  const root = step.line.r;
  const rounds = flattenRecords(root);
  const order = new Map(rounds.map(({ record }, i) => [record, i]));
  const above = new Map(rounds.map(({ record, parent }) => [record, parent]));
  const boxes = rounds.map(({ record, parent }, i) => {
    const cells = passedUp(record, parent);
    for (const cell of cells) cell.gone = goneIn(cell.at, parent, above, order);
    const judged = parent ? order.get(parent) : i; // the round in which it is decided what becomes of the cells
    return { record, parent, order: i, judged, mark: levelOf(race, record.by).mark, cells, cut: 0, from: record.at, to: record.at + cells.length };
  });
  const end = endOf(root, boxes);
  for (const box of boxes) box.cut = Math.min(box.cells.length, Math.max(0, box.to - end));
  for (const box of boxes) cutAt(box, end);
  const tail = end - root.at > CROWDED ? root.at + root.ok + TAIL : Infinity;
  for (const box of boxes) if (box.parent && box.parent !== root) cutAt(box, tail);
  return { root, from: root.at, to: endOf(root, boxes), tail, boxes, costs: costsByMark(boxes) };
}

// The end of the block: of what the target was given, and of what a level below has left of its guesses.
function endOf(root, boxes) {
  const left = boxes.flatMap(({ cells }) => cells.filter(({ gone }) => gone === Infinity).map(({ at }) => at + 1));
  return Math.max(root.at + 1, root.at + tokensOf(root).length, ...left);
}

function cutAt(box, end) {
  box.cells.length = Math.min(box.cells.length, Math.max(0, end - box.from));
  box.to = box.from + box.cells.length;
}

// The tokens that a round passed up, as cells {at, id, who, own, fate}. `own` is the kind of a token that the round itself wrote:
// a reviewer's own, see tokenKind, or "copied".
function passedUp(record, parent) {
  const kept = isReview(record) ? record.ok : tokensOf(record).length;
  const cells = tokensOf(record)
    .slice(0, kept)
    .map((id, j) => ({ at: record.at + j, id, who: authorOf(record, j), own: isReview(record) ? "" : "copied" }));
  if (record.y !== undefined) {
    cells.push({ at: record.at + record.ok, id: record.y, who: record.by, own: tokenKind(record, record.ok) });
  }
  for (const cell of cells) cell.fate = fateAt(cell.at, parent);
  return cells;
}

// What became of the token at a position under the review that it was passed to.
function fateAt(at, parent) {
  if (!parent) return "text";
  const j = at - parent.at;
  if (j < parent.ok) return "kept";
  return j === parent.ok ? "rejected" : "unjudged";
}

// The round of a level below the target that rejected a guess before this position; Infinity where none did.
function goneIn(at, parent, above, order) {
  for (let review = parent; review && above.get(review); review = above.get(review)) {
    if (at > review.at + review.ok) return order.get(review);
  }
  return Infinity;
}

function costsByMark(boxes) {
  const costs = new Map();
  for (const { record, mark } of boxes) {
    const before = costs.get(mark) || { seconds: 0, runs: 0 };
    costs.set(mark, { seconds: before.seconds + record.d, runs: before.runs + (record.s ? 0 : 1) });
  }
  return costs;
}
