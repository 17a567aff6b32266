// Where the labels of a chart stand: each at the first of its places where it covers neither a symbol nor another label, and
// as little of the curves as can be.

const LETTER = 0.56; // of the size of the type: how wide a letter is on average
const [SYMBOL, LABEL, OUTSIDE] = [30, 100, 200]; // what it costs to cover one, in points of a curve, or to leave the plot
const REACH = 8; // pixels from the middle of a symbol to its edge

// The box of a text that is anchored at (x, y), its baseline.
export function boxOf({ x, y, anchor = "start" }, text, size) {
  const width = text.length * size * LETTER;
  const left = x - { start: 0, middle: width / 2, end: width }[anchor];
  return { left, right: left + width, top: y - 0.8 * size, bottom: y + 0.2 * size };
}

// `plot` is the box that labels stay in, `points` are those of the curves and `symbols` the middles of symbols, as [x, y].
// Returns a function that places one label after another.
export function createPlaces(plot, points, symbols) {
  const labels = [];
  const costOf = (box) =>
    points.filter((point) => isIn(box, point, 2)).length +
    SYMBOL * symbols.filter((point) => isIn(box, point, REACH)).length +
    LABEL * labels.filter((other) => meets(box, other)).length +
    (box.left < plot.left || box.right > plot.right || box.top < plot.top || box.bottom > plot.bottom ? OUTSIDE : 0);
  return (text, size, choices) => {
    const found = choices.map((choice) => ({ choice, box: boxOf(choice, text, size) })).map((one) => ({ ...one, cost: costOf(one.box) }));
    const best = found.reduce((one, other) => (other.cost < one.cost ? other : one));
    labels.push(best.box);
    return best.choice;
  };
}

// Around a symbol, from the place that is tried first; the far ones are for where curves lie close.
export function around(x, y, first) {
  const places = {
    above: { x, y: y - 13, anchor: "middle" },
    below: { x, y: y + 25, anchor: "middle" },
    left: { x: x - 12, y: y + 5, anchor: "end" },
    right: { x: x + 12, y: y + 5, anchor: "start" },
    rightAbove: { x: x + 11, y: y - 9, anchor: "start" },
    leftAbove: { x: x - 11, y: y - 9, anchor: "end" },
    rightBelow: { x: x + 11, y: y + 20, anchor: "start" },
    leftBelow: { x: x - 11, y: y + 20, anchor: "end" },
    farAbove: { x, y: y - 28, anchor: "middle" },
    farBelow: { x, y: y + 40, anchor: "middle" },
    farRightBelow: { x: x + 16, y: y + 34, anchor: "start" },
    farLeftAbove: { x: x - 16, y: y - 24, anchor: "end" },
  };
  return [places[first], ...Object.entries(places).filter(([name]) => name !== first).map(([, place]) => place)];
}

// Over a line across the plot, or under it.
export function along(y, left, right) {
  const ends = [{ x: left }, { x: (left + right) / 2, anchor: "middle" }, { x: right, anchor: "end" }];
  return [y - 7, y + 16].flatMap((baseline) => ends.map((end) => ({ ...end, y: baseline })));
}

const isIn = ({ left, right, top, bottom }, [x, y], reach) => x > left - reach && x < right + reach && y > top - reach && y < bottom + reach;

const meets = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
