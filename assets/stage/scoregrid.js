// Draws a review as a score: names of the levels on the left, positions on top, a box with tokens for each round. The
// two cascades are its two axes: upwards every row checks the row below, to the right the writers become cheaper.

import { h, put } from "./dom.js";
import { countRuns, countTokens, formatSeconds } from "./format.js";
import { levelOf, levelsOfLane } from "./log.js";
import { draftGroups, isReview } from "./records.js";
import { cell, columnOf, createAxes, fitAxes, fitZones } from "./scoreaxes.js";
import { tokenWord } from "./text.js";

const SMALLEST = 13; // pixels of a token's letters
const SMALLEST_PICTURE = 11; // of the tour: its pictures are seen as a whole
const LEGIBLE = 1.1; // hundredths of the screen's width, while presenting; a block that needs more is scrolled
const SEEN = 1; // times the usual size: a block that is scrolled while presenting is no smaller, as far as the height lets it
const NEARLY = 0.85; // of the width that a block needs: it gets smaller type, or less room between words, instead of being scrolled
const SCROLLED = 0.5; // of the height that the grid needs: with less room it is scrolled, as on a phone
const MARGINS = 36; // pixels around what stands below the grid
const MARGINS_PRESENTED = 20;
const TOLD = 26; // pixels of a sentence on a move, below the picture
const LARGEST = 1.7; // times the usual size, where there is room
const LARGEST_SHOWN = 2.2; // of the tour and while presenting
const EDGE = 4; // pixels right of the last column
const WIDER = 0.6; // of the letters' height, on each side of a word at most, where the columns leave room
const TALLER = 0.5; // the same above and below it
const TALLER_PRESENTED = 1; // where nothing stands below
const FEW = 6; // positions up to which each one gets its number, and else every fifth
const NUMBERED = 20; // rounds up to which each box carries the number of its round

// Fills the grid and gives every box of the score its nodes: {node, cells, rises}; rises are the dotted lines up to the
// level above. They are kept in `box.view`.
export function buildScore(grid, race, lane, score) {
  const groups = draftGroups(score.root).filter((group) => group.to > group.from);
  const first = groups.length ? 4 : 2; // row of the target, below the axis, the writers and the numbers
  const names = nameColumn(race, lane, score, first);
  const blocks = score.boxes.filter((box) => box.cells.length);
  for (const box of blocks) box.view = createBox(race, score, box, names.rows);
  grid.replaceChildren(...createNumbers(score, first - 1), ...names.nodes,
    ...(groups.length ? createAxes(race, lane, score, groups, first, names.end) : []),
    ...blocks.flatMap(({ view }) => [view.node, ...view.cells, ...view.rises]));
  grid.style.gridTemplateColumns = `var(--cs-side) max-content repeat(${score.to - score.from}, max-content)`;
  grid.toggleAttribute("data-numbered", isNumbered(score));
  fitType(grid);
  fitAxes(grid);
  fitZones(grid);
  grid.scrollLeft = 0;
  if (grid.closest("[data-present]")) scrollToBox(grid, score.boxes[score.boxes.length - 1]); // to the target's own token
  showMore(grid);
}

// Whether each box carries the number of its round, which is seen while the rounds are stepped through.
export function isNumbered({ boxes }) {
  return boxes.length > 1 && boxes.length <= NUMBERED;
}

// A grid that goes on to the right fades out there. The button below it says how many positions are out of sight on
// either side.
export function showMore(grid) {
  const [start, end] = [grid.scrollLeft + parseFloat(grid.style.getPropertyValue("--cs-names")), grid.scrollLeft + grid.clientWidth];
  const middles = [...grid.querySelectorAll(".cs-score-at")].map((node) => node.offsetLeft + node.offsetWidth / 2);
  const [before, after] = [middles.filter((x) => x < start).length, middles.filter((x) => x > end).length];
  const { nextElementSibling: more } = grid;
  grid.toggleAttribute("data-more", after > 0);
  const [left, right] = [before ? `\u2190 ${countTokens(before)} before` : "", after ? `${countTokens(after)} more \u2192` : ""];
  put(more, [left, right].filter(Boolean).join(", "));
  more.hidden = !more.textContent;
}

// To the far end, or back from it.
export function scrollOn(grid) {
  const isAtEnd = grid.scrollLeft + grid.clientWidth >= grid.scrollWidth - 2;
  grid.scrollTo({ left: isAtEnd ? 0 : grid.scrollWidth, behavior: "smooth" });
}

// Makes the type as large as the room lets it, and smaller than usual where the columns would not fit; on the page the
// height makes it no smaller than usual, because a page can be scrolled. What is left goes between the words.
function fitType(grid) {
  for (const name of ["--cs-cell", "--cs-wider", "--cs-taller"]) grid.style.removeProperty(name);
  for (const name of ["data-tall", "data-tight"]) grid.removeAttribute(name);
  for (const rise of grid.querySelectorAll(".cs-rise")) rise.style.removeProperty("margin-bottom"); // else rows would keep their height
  const { room, isBounded, largest, spare } = measureRoom(grid);
  const names = grid.querySelector(".cs-score-name");
  const left = names.offsetLeft + names.offsetWidth - grid.scrollLeft; // they stay where they are in a scrolled grid
  grid.style.setProperty("--cs-names", `${left}px`); // where other names stay in sight
  const wide = () => (grid.clientWidth - left) / (contentWidth(grid) - left);
  const high = () => room() / grid.offsetHeight;
  const fitting = shrink(grid, Math.min(largest, wide() * 0.98), wide);
  grid.toggleAttribute("data-tight", wide() < 1 && wide() > NEARLY); // words stand closer before any of them is out of sight
  if (isBounded && high() < SCROLLED) return;
  const ratio = isBounded && wide() < 1 ? setRatio(grid, Math.max(fitting, SEEN)) : fitting;
  const low = lower(grid, ratio, isBounded ? 0 : Math.min(1, ratio), high);
  if (isBounded && wide() < 1 && wide() > NEARLY) shrink(grid, low * wide() * 0.98, wide);
  grid.toggleAttribute("data-tall", isBounded && high() < 1); // what its signs mean would be cut
  spread(grid, spare());
  endRises(grid);
}

// The dotted lines of a run, which stand behind its box and its words, end where these begin: a dropped word has no ground of
// its own that would hide them.
function endRises(grid) {
  const above = new Map();
  let below = 0;
  for (const node of grid.querySelectorAll(".cs-box, .cs-rise")) {
    if (node.matches(".cs-rise")) above.set(node, below);
    else below = node.offsetTop + node.offsetHeight - node.nextElementSibling.offsetTop;
  }
  for (const [rise, height] of above) rise.style.marginBottom = `${height}px`;
}

// Type at a ratio to the usual size, or smaller until it fits; margins keep their size. Returns the ratio.
function shrink(grid, ratio, fits) {
  if (ratio === 1) return ratio;
  setRatio(grid, ratio);
  for (let tries = 0; tries < 3 && fits() < 1; tries++) ratio = setRatio(grid, ratio * fits() * 0.98);
  return ratio;
}

// The same for the height, down to a ratio. Returns the ratio, too.
function lower(grid, ratio, least, high) {
  for (let tries = 0; tries < 6 && high() < 1 && ratio > least; tries++) {
    const before = [ratio, grid.offsetHeight];
    ratio = setRatio(grid, Math.max(least, ratio * high() * 0.98));
    if (grid.offsetHeight < before[1]) continue;
    return setRatio(grid, before[0]); // the names of the levels are as high as the rows: smaller type would gain nothing
  }
  return ratio;
}

function setRatio(grid, ratio) {
  const least = grid.closest("[data-present]") ? `${LEGIBLE}vw` : "0px";
  const smallest = grid.closest("dialog") ? SMALLEST_PICTURE : SMALLEST;
  grid.style.setProperty("--cs-cell", `max(${smallest}px, ${least}, calc(var(--cs-widest) * ${ratio.toFixed(2)}))`);
  return ratio;
}

// Gives the words the room that is left beside and below the grid, as far as it does not tear them apart.
function spread(grid, below) {
  const cell = grid.querySelector(".cs-cell");
  if (!cell) return;
  const letters = parseFloat(getComputedStyle(cell).fontSize);
  const boxes = [...grid.querySelectorAll(".cs-box")];
  const [wide, high] = [grid.querySelectorAll(".cs-score-at").length, new Set(boxes.map((box) => box.offsetTop)).size];
  const each = (free, lines, most) => `${Math.max(0, Math.min(most * letters, Math.floor(free / lines / 2)))}px`;
  grid.style.setProperty("--cs-wider", each(grid.clientWidth - contentWidth(grid) - EDGE, wide, WIDER));
  grid.style.setProperty("--cs-taller", each(below, high, grid.closest("[data-present]") ? TALLER_PRESENTED : TALLER));
}

// The height that there is for the grid, as a function; whether the grid must keep within it; how many times the usual size its
// type may have; and what is left below it, as a function: on the page, which can be scrolled, down to the window's lower edge.
// A picture of the tour fills its dialog, which on a phone is scrolled as a whole.
function measureRoom(grid) {
  const stage = grid.closest(".cascade-stage");
  const holder = grid.closest("dialog .tour-stage");
  if (holder) {
    const isBounded = getComputedStyle(holder).overflowY !== "visible";
    const told = grid.closest("dialog[data-slide]") ? 0 : TOLD; // no sentence stands on a slide
    const room = () => (isBounded ? holder.clientHeight - stage.offsetHeight + grid.offsetHeight - told : Infinity);
    return { room, isBounded, largest: LARGEST_SHOWN, spare: () => (isBounded ? room() - grid.offsetHeight : 0) };
  }
  const isPresented = Boolean(grid.closest("[data-present]"));
  const below = stage.querySelectorAll(`.cs-score-key${isPresented ? ", .cs-transport" : ""}`);
  const taken = [...below].reduce((sum, node) => sum + node.offsetHeight, 0);
  const above = grid.getBoundingClientRect().top - stage.getBoundingClientRect().top;
  const room = () => innerHeight - above - taken - (isPresented ? MARGINS_PRESENTED : MARGINS);
  const over = isPresented ? 0 : stage.getBoundingClientRect().top + scrollY; // the page's form
  const spare = () => room() - over - grid.offsetHeight;
  return { room, isBounded: isPresented, largest: isPresented ? LARGEST_SHOWN : LARGEST, spare };
}

// How far the cells reach, which is less than the grid where they fill it only in part.
function contentWidth(grid) {
  return Math.max(1, ...[...grid.querySelectorAll(".cs-score-at")].map((node) => node.offsetLeft + node.offsetWidth));
}

// Shows the rounds up to one, or all where it is null: what was not judged by then is still open, and what a correction made
// useless before it is gone. Marks the cells at a position, unless it is null.
export function drawScore(score, round, position) {
  const column = position === null ? null : String(position);
  const { root } = score;
  const isOver = round === null || round === score.boxes.length - 1; // the target has judged: what it dropped is dropped at every level
  for (const box of score.boxes) {
    if (!box.view) continue;
    const { node, cells, rises } = box.view;
    const isLater = round !== null && box.order > round;
    const isJudged = round === null || box.judged <= round;
    const isGone = ({ gone }) => gone < (round === null ? Infinity : round);
    const left = box.cells.filter((one) => !isGone(one)).length; // those in front
    node.classList.toggle("cs-absent", isLater || !left);
    node.classList.toggle("cs-round", box.order === round);
    node.style.gridColumnEnd = `span ${Math.max(1, left)}`;
    box.cells.forEach((one, j) => {
      for (const part of [cells[j], rises[j]]) part?.classList.toggle("cs-absent", isLater || isGone(one));
      cells[j].dataset.fate = !isJudged ? "open" : one.fate === "kept" && isOver && one.at > root.at + root.ok ? "unjudged" : one.fate;
      cells[j].classList.toggle("cs-column", cells[j].dataset.at === column);
      if (rises[j]) rises[j].hidden = !isJudged || one.fate !== "kept";
    });
  }
}

// Scrolls the grid sideways so that a box is in sight.
export function scrollToBox(grid, { view }) {
  if (!view) return;
  const { offsetLeft: left, offsetWidth: width } = view.node;
  const { offsetWidth: names } = grid.querySelector(".cs-score-name");
  if (left - names < grid.scrollLeft) grid.scrollLeft = left - names - 20;
  else if (left + width > grid.scrollLeft + grid.clientWidth) grid.scrollLeft = left + width - grid.clientWidth + 60;
}

// Dots are narrower than numbers: of those only the last one has its number.
function createNumbers(score, row) {
  const n = score.to - score.from;
  const every = n > FEW ? 5 : 1;
  const isTold = (i) => (isTail(score, score.from + i) ? i === n - 1 : !i || (i + 1) % every === 0);
  return Array.from({ length: n }, (_, i) => h("span", {
    class: "cs-score-at", style: cell(row, 1, i + 3, 1), text: isTold(i) ? String(i + 1) : "",
  }));
}

// The names of the levels. Returns {nodes, rows, end}: the row of each mark and the first row below all.
function nameColumn(race, lane, score, first) {
  const nodes = [];
  const rows = new Map();
  let row = first;
  for (const entry of levelsOfLane(race, lane)) {
    rows.set(entry.mark, row);
    nodes.push(createName(entry, score.costs.get(entry.mark), cell(row, 1, 2, 1)));
    row += 1;
  }
  return { nodes, rows, end: row };
}

function createName(entry, cost, style) {
  const { mark, look, role } = entry;
  const told = cost ? `${countRuns(cost.runs, mark)}, ${formatSeconds(cost.seconds)}` : "not run";
  return h("div", { class: "cs-score-name", style, "data-level": mark, title: entry.labels.join(" / ") },
    h("span", { class: "cs-swatch", "data-look": look, "data-mark": mark }),
    h("span", { class: "cs-score-who" }, h("b", { text: role }), h("small", { text: told })));
}

function createBox(race, score, box, rows) {
  const row = rows.get(box.mark);
  const { look } = levelOf(race, box.record.by);
  const style = cell(row, 1, columnOf(score, box.from), box.to - box.from);
  const order = isNumbered(score) ? h("span", { class: "cs-order", text: String(box.order + 1) }) : null;
  const cut = box.cut ? h("span", { class: "cs-cut", text: `+${box.cut}`, title: `${countTokens(box.cut)} more, dropped` }) : null;
  const above = box.parent ? rows.get(levelOf(race, box.parent.by).mark) + 1 : 0;
  return {
    node: h("div", { class: "cs-box", "data-look": look, "data-order": box.order, "data-checks": isReview(box.record), style }, order, cut),
    cells: box.cells.map((one, j) => createCell(race, box, one, j, cell(row, 1, columnOf(score, one.at), 1), isTail(score, one.at))),
    rises: above ? box.cells.map((one) => createRise(cell(above, row - above + 1, columnOf(score, one.at), 1))) : [],
  };
}

// The tail of a long block is dots, so that the rest stays legible.
function createCell(race, box, { id, who, own, at, fate }, j, style, isDot) {
  const { look, mark } = levelOf(race, who);
  const sign = own === "bonus" && box.mark === "T" ? "+" : mark;
  return h("span", { class: isDot ? "cs-cell cs-tail" : "cs-cell", "data-look": look, "data-mark": sign, "data-own": own || null, "data-final": fate,
                     "data-at": at, "data-order": box.order, "data-j": j, style },
    h("bdi", { text: isDot ? "\u00B7" : tokenWord(race.pieces, id) }));
}

const isTail = ({ tail }, at) => at >= tail;

function createRise(style) {
  return h("i", { class: "cs-rise", "aria-hidden": "true", style });
}
