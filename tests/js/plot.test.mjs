import assert from "node:assert/strict";
import { test } from "node:test";
import { endLabels, refine } from "../../assets/stage/plot.js";
import { boxOf } from "../../assets/theory/places.js";

const AREA = { left: 46, right: 600, top: 0, bottom: 200 };
const SIZE = 15;

const boxes = (ends, texts, points = []) => endLabels(ends, texts, AREA, points).map((place, i) => boxOf(place, [texts[i]], SIZE));

test("a label is right of the end of its line, or left of it where there is no room", () => {
  const [{ x, y }] = endLabels([[100, 50]], ["cascade"], AREA, []);
  assert.deepEqual([x, y], [113, 55]);
  assert.ok(boxes([[590, 50]], ["cascade"])[0].right <= 600);
});

test("labels of lines that end close together keep apart, and close to their own ends", () => {
  const ends = [[560, 30], [556, 36], [300, 30], [540, 190], [536, 190]];
  const texts = ["cascade 132 tok/s", "speculative 98 tok/s", "prompt lookup 40 tok/s", "autoregressive 20 tok/s", "adaptive 9.1 tok/s"];
  const placed = boxes(ends, texts, [[400, 80], [450, 60]]);
  placed.forEach(({ left, right, top, bottom }, i) => {
    const [x, y] = ends[i];
    assert.ok(Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom)) <= 42, texts[i]);
    for (const other of placed.slice(i + 1)) {
      assert.ok(right <= other.left || other.right <= left || bottom <= other.top || other.bottom <= top, texts[i]);
    }
  });
});

test("lanes that wait at the origin have labels that keep apart", () => {
  const texts = ["speculative", "prompt lookup", "cascade"];
  const ends = texts.map(() => [46, 190]);
  const places = endLabels(ends, texts, AREA, [], texts.map(() => true));
  const placed = places.map((place) => boxOf(place, place.lines, SIZE));
  assert.ok(places.some(({ lines: [text] }) => text));
  for (const [i, one] of placed.entries()) {
    for (const other of placed.slice(i + 1)) {
      assert.ok(one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top);
    }
  }
});

test("a line of few steps has points between them, that labels keep off", () => {
  assert.deepEqual(refine([[0, 0], [0, 4], [1, 4]]), [[0, 0], [0, 2], [0, 4], [1, 4]]);
  const steep = refine([[60, 190], [230, 40]]);
  const [first] = boxes([[100, 40], [230, 40]], ["cascade 729 tok/s", "speculative 463 tok/s"], steep);
  assert.ok(steep.every(([x, y]) => x < first.left || x > first.right || y < first.top || y > first.bottom));
});
