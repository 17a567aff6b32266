import assert from "node:assert/strict";
import { test } from "node:test";
import { OVERHEAD, addLine, emptyRace, laneOfHeadline, levelMarks, levelOf, levelsOfLane } from "../../assets/stage/log.js";
import { draftGroups, flattenRecords, rejectedRuns, tokenHistory, tokenKind } from "../../assets/stage/records.js";
import { LINES, ROOT, race } from "./race.mjs";

const rounded = (numbers) => numbers.map((value) => Number(value.toFixed(6)));

test("the lines of a log become lanes, steps and tokens", () => {
  const { lanes: [alone, cascade], pieces, open } = race();
  assert.equal(open.start, 2);
  assert.equal(pieces.get(2), " fox");
  assert.deepEqual(alone.tokens.map(({ id, kind, position }) => [id, kind, position]), [[1, "own", 0]]);
  assert.deepEqual(cascade.tokens.map(({ who, kind }) => [who, kind]),
    [["MaxGram", "accepted"], ["mid", "accepted"], ["small", "accepted"], ["target", "correction"]]);
  const [step] = cascade.steps;
  assert.deepEqual([step.number, step.from, step.count], [1, 0, 4]);
  assert.deepEqual(step.marks, { 0: 1, 1: 1, 2: 1, T: 1 });
  assert.deepEqual([cascade.end, alone.end], ["eos", ""]);
});

test("addLine returns the lane of a line and keeps messages and the end", () => {
  const made = emptyRace();
  assert.equal(addLine(made, LINES[0]), undefined);
  assert.equal(addLine(made, LINES[1]), made.lanes[0]);
  addLine(made, { t: "message", text: "Position 2 in the queue." });
  addLine(made, { t: "close", play: true, lanes: [], notes: [] });
  assert.equal(made.message, "Position 2 in the queue.");
  assert.equal(made.close.play, true);
});

test("the text that is shown first is that of the cascade in the headline", () => {
  const raced = (...methods) => laneOfHeadline({ lanes: methods.map((method) => ({ info: { method } })) });
  assert.equal(raced("autoregressive", "cascade", "adaptive cascade"), 1);
  assert.equal(raced("autoregressive", "speculative", "adaptive cascade"), 2);
});

test("the times of the levels and the overhead add up to the decoding time", () => {
  const lane = race().lanes[1];
  const models = [...lane.seconds.values()].reduce((sum, { seconds }) => sum + seconds, 0);
  assert.deepEqual(rounded([models + lane.overheadSeconds, lane.prefillSeconds, lane.clock]), [0.045, 0.2, 0.245]);
  assert.deepEqual(lane.seconds.get("MaxGram").runs, 2);
  assert.deepEqual(rounded(lane.spans.get("2")), [0.202, 0.212]);
  assert.deepEqual(rounded(lane.spans.get(OVERHEAD)), [0.2, 0.201, 0.212, 0.213, 0.219, 0.22, 0.24, 0.245]);
  assert.deepEqual(lane.prefillSpans.get("T"), [0, 0.2]);
});

test("a skipped review does not count as a run", () => {
  const skipped = { by: "mid", at: 3, ok: 0, c: 0.3, d: 0, s: "its context is full" };
  const review = { by: "target", at: 3, ok: 0, y: 2, c: 0.3, d: 0.1, in: [skipped] };
  const lane = race({ t: "step", i: 0, x: [2], who: "target", c: 0.3, d: 0.1, r: review }).lanes[0];
  assert.equal(lane.seconds.get("mid").runs, 0);
});

test("steps never end at the same time, so that one can be shown without the next", () => {
  const review = { by: "target", at: 3, ok: 0, y: 2, c: 0.3, d: 0 };
  const [one, other] = race({ t: "step", i: 0, x: [2], who: "target", c: 0.3, d: 0, r: review }).lanes[0].steps;
  assert.ok(other.until > one.until);
});

test("levels: by name, by mark, and those of a lane with the target first", () => {
  const made = race();
  assert.equal(levelOf(made, "MaxGram").label, "Max-Gram");
  assert.equal(levelOf(made, "unknown").mark, "0");
  assert.deepEqual(levelMarks(made).map(({ mark, labels }) => [mark, labels]),
    [["0", ["Max-Gram"]], ["1", ["small"]], ["2", ["mid"]], ["T", ["target"]]]);
  assert.deepEqual(levelsOfLane(made, made.lanes[1]).map(({ mark }) => mark), ["T", "2", "1", "0"]);
  assert.deepEqual(levelsOfLane(made, made.lanes[0]).map(({ mark }) => mark), ["T"]);
});

test("records come in the order in which they ended", () => {
  assert.deepEqual(flattenRecords(ROOT).map(({ record, parent }) => [record.by, parent && parent.by]),
    [["MaxGram", "mid"], ["mid", "target"], ["small", "target"], ["MaxGram", "target"], ["target", null]]);
});

test("rejected runs say where and by whom, inner reviews marked", () => {
  const runs = rejectedRuns(ROOT).map(({ at, ids, by, inner, who }) => [at, ids, by, inner, who]);
  assert.deepEqual(runs, [[3, [9], "mid", 1, ["MaxGram"]], [5, [8, 7], "target", 0, ["MaxGram", "MaxGram"]]]);
  assert.deepEqual(race().lanes[1].rejected.map((run) => run.index), [0, 1]);
});

test("the kinds of tokens", () => {
  assert.deepEqual([0, 2, 3].map((j) => tokenKind(ROOT, j)), ["accepted", "accepted", "correction"]);
  assert.equal(tokenKind({ ok: 2, x: [1, 2] }, 2), "bonus");
  assert.equal(tokenKind({ ok: 0 }, 0), "own");
});

test("the history of a token names every record that saw it", () => {
  const history = (at, id) => tokenHistory(ROOT, at, id).map(({ by, did }) => [by, did]);
  assert.deepEqual(history(2, 1), [["MaxGram", "proposed"], ["mid", "accepted"], ["target", "accepted"]]);
  assert.deepEqual(history(3, 9), [["MaxGram", "proposed"], ["mid", "rejected"]]);
  assert.deepEqual(history(3, 2), [["mid", "wrote as correction"], ["target", "accepted"]]);
  assert.deepEqual(history(6, 7), [["MaxGram", "proposed"], ["target", "did not check"]]);
  assert.deepEqual(history(4, 3), [["small", "wrote"], ["target", "accepted"]]);
  assert.deepEqual(tokenHistory(ROOT, 2, 1)[1], { by: "mid", did: "accepted", p: 0.9, q: 1 });
});

test("drafts of one level in a row form a group", () => {
  assert.deepEqual(draftGroups(ROOT).map(({ by, from, to }) => [by, from, to]),
    [["mid", 2, 4], ["small", 4, 5], ["MaxGram", 5, 7]]);
  const twice = { at: 0, in: [{ by: "mid", ok: 0, y: 1 }, { by: "mid", ok: 0, y: 2 }] };
  assert.deepEqual(draftGroups(twice).map(({ records, to }) => [records.length, to]), [[2, 2]]);
});
