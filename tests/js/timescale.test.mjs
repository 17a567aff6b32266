import assert from "node:assert/strict";
import { test } from "node:test";
import {
  WHOLE, decimalsOf, followView, panView, roundUp, spansPath, ticks, timeTicks, zoomView,
} from "../../assets/stage/timescale.js";

const near = (view, from, to) => {
  assert.ok(Math.abs(view.from - from) < 1e-9 && Math.abs(view.to - to) < 1e-9, `${view.from} to ${view.to}`);
};

test("steps are 1, 2, 2.5, 5 and 10 times a power of ten, with the decimals they need", () => {
  assert.deepEqual([0.3, 1, 1.1, 2.2, 26, 70].map(roundUp), [0.5, 1, 2, 2.5, 50, 100]);
  assert.deepEqual([0.25, 0.1, 1, 2.5, 20, 0.025].map(decimalsOf), [2, 1, 0, 1, 0, 3]);
});

test("ticks lie on multiples of the step", () => {
  assert.deepEqual(ticks(0, 5, 2.5).map((tick) => tick.text), ["0.0", "2.5", "5.0"]);
  assert.deepEqual(ticks(0.9, 3, 1).map((tick) => tick.value), [1, 2, 3]);
});

test("a time axis names its unit once, milliseconds below a second", () => {
  assert.deepEqual(timeTicks(0, 4).map((tick) => tick.text), ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0", "3.5", "4.0 s"]);
  assert.deepEqual(timeTicks(0, 0.2).map((tick) => tick.text).slice(-2), ["175", "200 ms"]);
  assert.deepEqual(timeTicks(0.5, 0.52).map((tick) => tick.text), ["500.0", "502.5", "505.0", "507.5", "510.0", "512.5", "515.0", "517.5", "520.0 ms"]);
});

test("zooming keeps the time under the pointer in its place and stays inside the race", () => {
  near(zoomView(WHOLE, 10, 0.5, 4), 2, 7);
  near(zoomView({ from: 2, to: 7 }, 10, 0.5, 2), 2, 4.5);
  near(zoomView(WHOLE, 10, 0.5, 10), 5, 10);
  assert.equal(zoomView({ from: 2, to: 7 }, 10, 2, 4), WHOLE);
  assert.equal(zoomView({ from: 2, to: 7 }, 10, Infinity, 4), WHOLE);
  near(zoomView(WHOLE, 10, 1e-9, 0), 0, 0.02); // no further than 500 times
});

test("panning and following move the shown part", () => {
  near(panView({ from: 2, to: 4 }, 10, 0.5), 3, 5);
  near(panView({ from: 2, to: 4 }, 10, -9), 0, 2);
  assert.equal(panView(WHOLE, 10, 0.5), WHOLE);
  const view = { from: 2, to: 4 };
  assert.equal(followView(view, 10, 3), view);
  near(followView(view, 10, 5), 4.8, 6.8);
  near(followView(view, 10, 10), 8, 10);
  assert.equal(followView(WHOLE, 10, 5), WHOLE);
});

test("spans become bars that can be seen, and those outside are left out", () => {
  const shown = { from: 1, to: 2, width: 100 };
  assert.equal(spansPath([0, 0.5, 1.2, 1.4, 3, 4], shown, 5, 11), "M20.00 5h20.00v11h-20.00z");
  assert.equal(spansPath([1.5, 1.5001], shown, 0, 4), "M50.00 0h0.60v4h-0.60z");
  assert.equal(spansPath([0, 9], shown, 0, 4), "M-2.00 0h104.00v4h-104.00z");
});
