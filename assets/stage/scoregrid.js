// Draws a review as a score: names of the levels on the left, positions on top, a box with tokens for each round.

import { h } from "./dom.js";
import { countRuns, countTokens, formatSeconds } from "./format.js";
import { levelOf, levelsOfLane } from "./log.js";
import { draftGroups } from "./records.js";
import { term } from "./terms.js";
import { tokenWord } from "./text.js";

const SMALLEST = 14; // pixels of a token's letters
const CROWDED = 30; // positions from which on not every one gets its number
const NUMBERED = 12; // rounds up to which each box carries the number of its round

// Fills the grid and gives every box of the score its nodes: {node, cells, rises}; rises are the dotted lines up to the
// level above. They are kept in `box.view`.
export function buildScore(grid, race, lane, step, score) {
  const names = nameColumn(race, lane, score);
  const blocks = score.boxes.filter((box) => box.cells.length);
  for (const box of blocks) box.view = createBox(race, score, box, names.rows);
  const spent = score.boxes.reduce((total, box) => total + box.record.d, 0);
  grid.replaceChildren(...createHeader(score), ...names.nodes, createOverhead(names.end, step.line.d - spent),
    ...blocks.flatMap(({ view }) => [view.node, ...view.cells, ...view.rises]));
  grid.style.gridTemplateColumns = columnWidths(score);
  fitType(grid);
  grid.scrollLeft = 0;
  scrollToBox(grid, score.boxes.find((box) => box.record === score.root)); // its correction, in a long block
}

// Makes the type smaller where the columns would not fit at its usual size.
function fitType(grid) {
  grid.style.removeProperty("--cs-cell");
  const widths = grid.style.gridTemplateColumns;
  grid.style.gridTemplateColumns = widths.replaceAll("var(--cs-narrowest)", "max-content");
  const names = grid.querySelector(".cs-score-name").offsetWidth;
  const ratio = (grid.clientWidth - names) / (grid.scrollWidth - names);
  grid.style.gridTemplateColumns = widths;
  if (ratio < 1) grid.style.setProperty("--cs-cell", `max(${SMALLEST}px, calc(var(--cs-widest) * ${ratio.toFixed(2)}))`);
}

// Columns share the width that there is, down to a few letters; then the grid scrolls. The one with the target's own
// token is as wide as the token.
function columnWidths(score) {
  const own = score.root.y === undefined ? -1 : score.root.ok;
  const widths = Array.from({ length: score.to - score.from }, (_, i) =>
    i === own ? "max-content" : "minmax(var(--cs-narrowest), max-content)");
  return ["max-content", ...widths].join(" ");
}

// Shows the rounds up to one, or all where it is null: what was not judged by then is still open. Marks the cells at a
// position, unless it is null.
export function drawScore(score, round, position) {
  const column = position === null ? null : String(position);
  for (const box of score.boxes) {
    if (!box.view) continue;
    const { node, cells, rises } = box.view;
    const isLater = round !== null && box.order > round;
    const isJudged = round === null || box.judged <= round;
    for (const one of [node, ...cells, ...rises]) one.classList.toggle("cs-later", isLater);
    node.classList.toggle("cs-round", box.order === round);
    box.cells.forEach(({ fate }, j) => {
      cells[j].dataset.fate = isJudged ? fate : "open";
      cells[j].classList.toggle("cs-column", cells[j].dataset.at === column);
      if (rises[j]) rises[j].hidden = !isJudged || fate !== "kept";
    });
  }
}

// Scrolls the grid sideways so that a box is in sight.
export function scrollToBox(grid, { view }) {
  if (!view) return;
  const { offsetLeft: left, offsetWidth: width } = view.node;
  const names = grid.querySelector(".cs-score-name").offsetWidth;
  if (left - names < grid.scrollLeft) grid.scrollLeft = left - names - 20;
  else if (left + width > grid.scrollLeft + grid.clientWidth) grid.scrollLeft = left + width - grid.clientWidth + 60;
}

function cell(row, height, column, width) {
  return `grid-row:${row} / span ${height};grid-column:${column} / span ${width}`;
}

// The column of a position; the first one holds the names.
function columnOf(score, position) {
  return position - score.from + 2;
}

function createHeader(score) {
  const n = score.to - score.from;
  const every = n > CROWDED ? 5 : 1;
  const numbers = Array.from({ length: n }, (_, i) => h("span", {
    class: "cs-score-at", style: cell(1, 1, i + 2, 1), text: i && (i + 1) % every ? "" : String(i + 1),
  }));
  return [...numbers, createCaption(1, "vertical", "who verifies")];
}

function createCaption(row, direction, question) {
  return h("span", { class: "cs-score-name cs-score-head-name", style: cell(row, 1, 1, 1) },
    h("span", {}, term(`${direction} cascade`, direction), `: ${question}`));
}

// The names of the levels, and below the target who drafted which part of its block. Returns {nodes, rows, end}: the
// first row of each mark and the first row below all.
function nameColumn(race, lane, score) {
  const nodes = [];
  const rows = new Map();
  const groups = draftGroups(score.root).filter((group) => group.to > group.from);
  let row = 2;
  for (const entry of levelsOfLane(race, lane)) {
    const height = score.lines.get(entry.mark) || 1;
    rows.set(entry.mark, row);
    nodes.push(createName(entry, score.costs.get(entry.mark), cell(row, height, 1, 1)));
    row += height;
    if (entry.mark !== "T" || !groups.length) continue;
    const block = row++;
    nodes.push(createCaption(block, "horizontal", "who writes"));
    nodes.push(...groups.map((group) => createZone(race, score, group, block)));
  }
  return { nodes, rows, end: row };
}

function createName({ mark, look, labels }, cost, style) {
  const told = cost ? `${countRuns(cost.runs, mark)}, ${formatSeconds(cost.seconds)}` : "not run";
  return h("div", { class: "cs-score-name", style, "data-level": mark },
    h("span", { class: "cs-swatch", "data-look": look, text: mark }),
    h("span", { class: "cs-score-who", text: labels.join(" / ") }), h("span", { class: "cs-score-cost", text: told }));
}

function createZone(race, score, { by, from, to }, row) {
  const { label, look } = levelOf(race, by);
  const n = to - from;
  const title = `${label} drafted ${countTokens(n)} of the block`;
  return h("span", { class: "cs-zone", "data-look": look, style: cell(row, 1, columnOf(score, from), n), title },
    h("span", { text: n > 1 ? `${label}: ${n}` : label }));
}

function createOverhead(row, time) {
  return h("div", { class: "cs-score-name cs-score-rest", style: cell(row, 1, 1, 1) },
    h("span", { class: "cs-swatch" }),
    h("span", { class: "cs-score-who", text: "overhead" }),
    h("span", { class: "cs-score-cost", text: formatSeconds(Math.max(0, time)) }));
}

function createBox(race, score, box, rows) {
  const row = rows.get(box.mark) + box.line;
  const { look } = levelOf(race, box.record.by);
  const style = cell(row, 1, columnOf(score, box.from), box.to - box.from);
  const isNumbered = score.boxes.length > 1 && score.boxes.length <= NUMBERED;
  const order = isNumbered ? h("span", { class: "cs-order", text: String(box.order + 1) }) : null;
  const above = box.parent ? rows.get(levelOf(race, box.parent.by).mark) + 1 : 0;
  return {
    node: h("div", { class: "cs-box", "data-look": look, "data-order": box.order, style }, order),
    cells: box.cells.map((one, j) => createCell(race, box, one, j, cell(row, 1, columnOf(score, one.at), 1))),
    rises: above ? box.cells.map((one) => createRise(cell(above, row - above + 1, columnOf(score, one.at), 1))) : [],
  };
}

function createCell(race, box, { id, who, own, at }, j, style) {
  const { look, mark } = levelOf(race, who);
  const sign = own === "bonus" && box.mark === "T" ? "+" : mark;
  return h("span", { class: "cs-cell", "data-look": look, "data-mark": sign, "data-own": own || null,
                     "data-at": at, "data-order": box.order, "data-j": j, style },
    h("bdi", { text: tokenWord(race.pieces, id) }));
}

function createRise(style) {
  return h("i", { class: "cs-rise", "aria-hidden": "true", style });
}
