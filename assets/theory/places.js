// Where the labels of a chart stand, on the Theory tab and below the stage: each close to its symbol, where it covers neither a symbol nor another label, and as
// little of the curves as can be.

export const LINE = 1.2; // of the size of the type: from one line to the next
const LETTER = 0.54; // of the size of the type: how wide a letter is on average
const [SYMBOL, LABEL, OUTSIDE] = [400, 500, 800]; // what it costs to cover one, in points of a curve, or to leave the plot
const FAR = 0.6; // the same for a pixel of distance from the symbol
const ASTRAY = 8; // for the side of a symbol where it does not belong
const MISTAKEN = 40; // for a place that is closer to another method's symbol
const REACH = 8; // pixels from the middle of a symbol to its edge
const MOST = 34; // pixels from the edge of a symbol to its label
const BESIDE = 11; // the same from its middle to a label beside it
const ASIDE = [0, -1, 1, -0.75, 0.75, -0.5, 0.5, -0.25, 0.25]; // places of a label to the side, in halves of it
const FEW = 5; // labels, of which every order is tried
const STEP = 6; // pixels from one of its heights to the next

// The box of lines of text, the first of which is anchored at (x, y), its baseline.
export function boxOf({ x, y, anchor = "start" }, lines, size) {
  const width = widthOf(lines, size);
  const left = x - { start: 0, middle: width / 2, end: width }[anchor];
  return { left, right: left + width, top: y - 0.9 * size, bottom: y + (lines.length - 1) * LINE * size + 0.25 * size };
}

const widthOf = (lines, size) => Math.max(...lines.map(({ length }) => length)) * size * LETTER;

// Of each label's choices, {lines, x, y, anchor, cost}, the one that it takes. `plot` is the box that labels stay in, `points` are
// those of the curves and `symbols` the middles of symbols, as [x, y]. A few are placed in the best order.
export function placeLabels(labels, size, plot, points, symbols) {
  const found = labels.map((choices) => choices.map((choice) => {
    const moved = shift(boxOf(choice, choice.lines, size), plot);
    const within = { ...choice, x: choice.x + moved };
    const box = boxOf(within, choice.lines, size);
    const covered = points.filter((point) => isIn(box, point, 2)).length + SYMBOL * symbols.filter((point) => isIn(box, point, REACH)).length;
    return { choice: within, box, cost: covered + (isWithin(box, plot) ? 0 : OUTSIDE) + FAR * Math.abs(moved) + (choice.cost ?? 0) };
  }));
  const order = labels.map((_, i) => i);
  const placed = (order.length > FEW ? [order] : orders(order)).map((order) => placeInOrder(found, order));
  return placed.reduce((one, other) => (other.cost < one.cost ? other : one)).choices;
}

function placeInOrder(found, order) {
  const boxes = [];
  const choices = [];
  let cost = 0;
  for (const i of order) {
    const costs = found[i].map((one) => one.cost + LABEL * boxes.filter((box) => meets(one.box, box)).length);
    const least = Math.min(...costs);
    const best = found[i][costs.indexOf(least)];
    boxes.push(best.box);
    choices[i] = best.choice;
    cost += least;
  }
  return { choices, cost };
}

// Every order of a few.
const orders = (items) => (items.length < 2 ? [items] : items.flatMap((one, i) => orders(items.toSpliced(i, 1)).map((rest) => [one, ...rest])));

// How far to the side a box must go to be in the plot.
const shift = ({ left, right }, plot) => Math.max(0, plot.left - left) || Math.min(0, plot.right - right);

// Around symbols that stand at x at these heights, none farther than MOST: over them, if they belong "above", or under them, and
// beside them. `others` are the symbols of other methods, as [x, y].
export function around(x, heights, first, lines, size, others = []) {
  const [top, bottom] = [Math.min(...heights), Math.max(...heights)];
  const rest = (lines.length - 1) * LINE * size; // of the label, below the baseline of its first line
  const near = { above: top - 13 - rest, below: bottom + 10 + 0.9 * size };
  const [beyond, over] = [MOST, near.below - near.above + MOST].map((pixels) => Math.floor(pixels / STEP)); // rows away from the symbol, and across it
  const across = first === "above" ? STEP : -STEP;
  const rows = Array.from({ length: beyond + over + 1 }, (_, row) => near[first] + (row - beyond) * across);
  const half = widthOf(lines, size) / 2;
  const own = heights.map((y) => [x, y]);
  return rows.flatMap((y) => ASIDE.map((aside) => {
    const place = { y, ...besides(x, aside, half) };
    const box = boxOf(place, lines, size);
    const far = gap(box, own);
    const middle = (box.top + box.bottom) / 2;
    const isAstray = first === "above" ? middle > bottom : middle < top;
    const isMistaken = others.some((other) => gap(box, [other]) < far);
    return { ...place, lines, far, cost: FAR * far + Math.abs(aside) + (isAstray ? ASTRAY : 0) + (isMistaken ? MISTAKEN : 0) };
  })).filter(({ far }) => far <= REACH + MOST);
}

function besides(x, aside, half) {
  if (Math.abs(aside) < 1) return { x: x + aside * half, anchor: "middle" };
  return aside > 0 ? { x: x + BESIDE, anchor: "start" } : { x: x - BESIDE, anchor: "end" };
}

// From a box to the closest of these points.
const gap = ({ left, right, top, bottom }, points) => Math.min(...points.map(([x, y]) => Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom))));

// Over a line across the plot, or under it.
export function along(y, left, right, lines) {
  const ends = [{ x: left }, { x: (left + right) / 2, anchor: "middle" }, { x: right, anchor: "end" },
    { x: (3 * left + right) / 4, anchor: "middle" }, { x: (left + 3 * right) / 4, anchor: "middle" }];
  return [y - 7, y + 18].flatMap((baseline) => ends.map((end) => ({ ...end, y: baseline, lines })));
}

const isIn = ({ left, right, top, bottom }, [x, y], reach) => x > left - reach && x < right + reach && y > top - reach && y < bottom + reach;

const isWithin = (box, plot) => box.left >= plot.left && box.right <= plot.right && box.top >= plot.top && box.bottom <= plot.bottom;

const meets = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
