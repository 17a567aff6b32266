import assert from "node:assert/strict";
import { test } from "node:test";
import { placeLabels } from "../../assets/stage/labels.js";

const AREA = { left: 46, right: 600, height: 200 };

test("a label is right of its end, or left of it where there is no room", () => {
  assert.deepEqual(placeLabels([{ x: 100, y: 50, text: "cascade" }], AREA), [{ x: 113, y: 55, anchor: "start" }]);
  assert.deepEqual(placeLabels([{ x: 590, y: 50, text: "cascade" }], AREA), [{ x: 577, y: 55, anchor: "end" }]);
});

test("labels cover neither each other nor the ends of other lines, and keep the order of the ends", () => {
  const ends = [{ x: 560, y: 30, text: "b 2 tok/s" }, { x: 556, y: 36, text: "a 1 tok/s" }, { x: 300, y: 30, text: "c" }];
  const placed = placeLabels(ends, AREA);
  assert.equal(placed[2].x, 313);
  assert.ok(Math.abs(placed[0].y - placed[1].y) >= 18 || placed[0].anchor !== placed[1].anchor);
  assert.deepEqual(ends.map((end) => end.text), ["b 2 tok/s", "a 1 tok/s", "c"]);
});

test("where nothing is free the label stays left of its end", () => {
  const tight = { left: 0, right: 10, height: 200 };
  assert.deepEqual(placeLabels([{ x: 300, y: 150, text: "x" }], tight), [{ x: 287, y: 155, anchor: "end" }]);
});
