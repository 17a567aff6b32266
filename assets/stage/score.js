// A review laid out as a score: a row for each level, a column for each position of the block, a box for each round.

import { authorOf, flattenRecords, isReview, tokenKind, tokensOf } from "./records.js";
import { levelOf } from "./log.js";

const CROWDED = 20; // positions from which on a block has a tail
const MOST_LINES = 2; // of a level, before rounds of which nothing was kept are left out
const TAIL = 3; // positions from the target's correction on that are before it

// Returns {root, from, to, tail, boxes, lines, costs}. `from` and `to` are positions; `lines` says how many lines the row of
// a mark needs, more than one where rounds overlap; `costs` holds {seconds, runs} by mark. A box holds what its round
// passed up; boxes are in the order in which the rounds ended. Where rounds of a level overlap, their boxes end with what
// was rejected, and `cut` says how many tokens came after it, and rounds of which nothing was kept may be left out, without cells. From `tail` on no review of the
// target reached a long block: it has only what the target was given.
export function reviewScore(race, step) {
  const root = step.line.r;
  const rounds = flattenRecords(root);
  const order = new Map(rounds.map(({ record }, i) => [record, i]));
  const rows = new Map(); // by mark: its boxes
  const boxes = rounds.map(({ record, parent }, i) => {
    const mark = levelOf(race, record.by).mark;
    const cells = passedUp(record, parent);
    const judged = parent ? order.get(parent) : i; // the round in which it is decided what becomes of the cells
    const box = { record, parent, order: i, judged, mark, line: 0, cells, cut: 0, isLeftOut: false, from: record.at, to: record.at + cells.length };
    rows.set(mark, [...(rows.get(mark) || []), box]);
    return box;
  });
  const tail = endOf(root, boxes) - root.at > CROWDED ? root.at + root.ok + TAIL : Infinity;
  for (const box of boxes) if (box.parent && box.parent !== root) cutAt(box, tail);
  const lines = new Map([...rows].map(([mark, all]) => [mark, countLines(all, root)]));
  return { root, from: root.at, to: endOf(root, boxes), tail, boxes, lines, costs: costsByMark(boxes) };
}

const endOf = (root, boxes) => Math.max(root.at + 1, root.at + tokensOf(root).length, ...boxes.map((box) => box.to));

const isSeen = (box) => box.cells.length > 0;

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

// Gives every box of a level its line, of as few as may be, and returns how many that takes. Where the ends of overlapping
// rounds are cut off and there are still many, those of which nothing was kept, behind the target's own token, have no cells.
function countLines(boxes, root) {
  if (countSeen(boxes) < 2) return 1;
  const lines = layOut(boxes.filter(isSeen).map(cutTail));
  if (lines <= MOST_LINES) return lines;
  leaveOut(boxes.filter(({ from }) => from > root.at + root.ok));
  const left = countSeen(boxes);
  if (left <= MOST_LINES) return left;
  leaveOut(boxes.filter(({ line }) => line >= MOST_LINES));
  return countSeen(boxes);
}

const countSeen = (boxes) => layOut(boxes.filter(isSeen));

// Those of which nothing was kept.
function leaveOut(boxes) {
  for (const box of boxes.filter(({ cells }) => !cells.some(({ fate }) => fate === "kept"))) {
    box.isLeftOut ||= isSeen(box);
    cutAt(box, box.from);
  }
}

// Gives every box its line, and returns how many lines that takes.
function layOut(boxes) {
  const ends = []; // the first free position of each line
  for (const box of boxes) box.line = takeLine(ends, box.from, Math.max(box.to, box.from + 1));
  return ends.length;
}

function cutTail(box) {
  const length = box.cells.findIndex(({ fate }) => fate === "rejected") + 1;
  if (!length) return box;
  box.cut = box.cells.length - length;
  box.cells.length = length;
  box.to = box.from + length;
  return box;
}

// Finds the first line of a row that is free from a position on, and takes it up to `to`.
function takeLine(ends, from, to) {
  const free = ends.findIndex((end) => end <= from);
  const line = free < 0 ? ends.length : free;
  ends[line] = to;
  return line;
}

function costsByMark(boxes) {
  const costs = new Map();
  for (const { record, mark } of boxes) {
    const before = costs.get(mark) || { seconds: 0, runs: 0 };
    costs.set(mark, { seconds: before.seconds + record.d, runs: before.runs + (record.s ? 0 : 1) });
  }
  return costs;
}
