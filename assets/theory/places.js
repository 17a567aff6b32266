// Where the labels of a chart stand: each at the first of its places where it covers neither a symbol nor another label, and
// as little of the curves as can be.

export const LINE = 1.2; // of the size of the type: from one line to the next
const LETTER = 0.54; // of the size of the type: how wide a letter is on average
const [SYMBOL, LABEL, OUTSIDE] = [60, 300, 500]; // what it costs to cover one, in points of a curve, or to leave the plot
const FAR = 0.2; // the same for a pixel of distance from the first place
const [RINGS, STEP] = [12, 14]; // how many places there are over a symbol, and pixels from one to the next
const ASTRAY = 150; // pixels that the other side of a symbol counts as farther
const REACH = 8; // pixels from the middle of a symbol to its edge

// The box of lines of text, the first of which is anchored at (x, y), its baseline.
export function boxOf({ x, y, anchor = "start" }, lines, size) {
  const width = Math.max(...lines.map(({ length }) => length)) * size * LETTER;
  const left = x - { start: 0, middle: width / 2, end: width }[anchor];
  return { left, right: left + width, top: y - 0.9 * size, bottom: y + (lines.length - 1) * LINE * size + 0.25 * size };
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
  return (lines, size, choices) => {
    const found = choices.map((choice) => {
      const moved = shift(boxOf(choice, lines, size), plot);
      const within = { ...choice, x: choice.x + moved };
      const box = boxOf(within, lines, size);
      return { choice: within, box, cost: costOf(box) + FAR * ((choice.far ?? 0) + Math.abs(moved)) };
    });
    const best = found.reduce((one, other) => (other.cost < one.cost ? other : one));
    labels.push(best.box);
    return best.choice;
  };
}

// How far to the side a box must go to be in the plot.
const shift = ({ left, right }, plot) => Math.max(0, plot.left - left) || Math.min(0, plot.right - right);

// Over symbols that stand at x between two heights, under them and beside them, from the side where they belong, "above" or
// "below": on the other one they may lie over another curve. The far places are for where curves lie close.
export function around(x, [top, bottom], first, lines, size) {
  const rest = (lines.length - 1) * LINE * size; // of the label, below the baseline of its first line
  const near = { above: top - 13 - rest, below: bottom + 10 + 0.9 * size };
  const beside = (top + bottom) / 2 + 0.35 * size - rest / 2;
  const sides = [{ x, anchor: "middle" }, { x: x + 11, anchor: "start" }, { x: x - 11, anchor: "end" }];
  const column = (side, way, far) => sides.map((place, i) => ({ ...place, y: near[side] + way * far, far: far + (i ? 1 : 0) }));
  const ways = [["above", -1], ["below", 1]];
  const [own, other] = first === "above" ? ways : ways.toReversed();
  const level = sides.slice(1).map((place) => ({ ...place, y: beside, far: 3 }));
  return Array.from({ length: RINGS }, (_, ring) => ring).flatMap((ring) => [...column(...own, ring * STEP), ...(ring ? [] : level), ...column(...other, ring * STEP + 2).map((place) => ({ ...place, far: place.far + ASTRAY }))]);
}

// Over a line across the plot, or under it.
export function along(y, left, right) {
  const ends = [{ x: left }, { x: (left + right) / 2, anchor: "middle" }, { x: right, anchor: "end" },
    { x: (3 * left + right) / 4, anchor: "middle" }, { x: (left + 3 * right) / 4, anchor: "middle" }];
  return [y - 7, y + 18].flatMap((baseline) => ends.map((end) => ({ ...end, y: baseline })));
}

const isIn = ({ left, right, top, bottom }, [x, y], reach) => x > left - reach && x < right + reach && y > top - reach && y < bottom + reach;

const meets = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
