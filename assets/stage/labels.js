// Places the labels at the ends of the plot's lines.

const LETTER = 8.3; // width of a character in pixels
const HEIGHT = 18;
const GAP = 13; // between the end of a line and its label
const TRIES = 5;

// `ends` are {x, y, text} in pixels; area is {left, right, height}. Every label goes to the first place beside its end
// where it covers no other label and no other end. Returns, in the same order, {x, y, anchor} for SVG text.
export function placeLabels(ends, area) {
  const taken = ends.map((end) => ({ end, from: end.x - 12, to: end.x + 12, top: end.y - 9, bottom: end.y + 9 }));
  const placed = new Map();
  for (const end of [...ends].sort((one, other) => one.x - other.x || one.y - other.y)) {
    const others = taken.filter((box) => box.end !== end);
    const isFree = (box) => box.from >= area.left && box.to <= area.right && !others.some((one) => overlap(one, box));
    const places = candidates(end, area.height);
    const box = places.find(isFree) || places[1];
    taken.push(box);
    placed.set(end, { x: box.side > 0 ? box.from : box.to, y: box.top + 14, anchor: box.side > 0 ? "start" : "end" });
  }
  return ends.map((end) => placed.get(end));
}

// Boxes right and left of an end, then further and further towards the middle of the plot.
function candidates(end, height) {
  const wide = end.text.length * LETTER + 6;
  const away = end.y > height / 2 ? -19 : 19;
  const boxes = [];
  for (let down = 0; down < TRIES; down++) {
    for (const side of [1, -1]) {
      const from = side > 0 ? end.x + GAP : end.x - GAP - wide;
      const top = end.y - HEIGHT / 2 + away * down;
      boxes.push({ from, to: from + wide, top, bottom: top + HEIGHT, side });
    }
  }
  return boxes;
}

function overlap(one, other) {
  return one.from < other.to && other.from < one.to && one.top < other.bottom && other.top < one.bottom;
}
