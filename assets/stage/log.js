// Reduces the lines of a race's log to its data. The lines are described in csd/stage/log.py.

import { alignStarts } from "./alignment.js";
import { authorOf, flattenRecords, rejectedRuns, tokenKind } from "./records.js";

export const OVERHEAD = "overhead";

export function emptyRace() {
  return {
    open: null, // the first line
    close: null, // the last line: verdicts, notes and a summary
    message: "", // a sentence for the visitor
    ask: "", // in place of the race that was asked for: why there is none
    pieces: new Map(), // text or bytes of every token id that has occurred
    levels: new Map(), // by name
    lanes: [],
  };
}

// Adds one line of the log to the race and returns the lane that it belongs to, if any.
export function addLine(race, line) {
  for (const [id, piece] of Object.entries(line.p || {})) race.pieces.set(Number(id), piece);
  const lane = race.lanes[line.i];
  if (line.t === "open") {
    race.open = line;
    race.lanes = line.lanes.map(emptyLane);
    race.levels = new Map(line.levels.map((level) => [level.name, level]));
  } else if (line.t === "prefill") addPrefill(race, lane, line);
  else if (line.t === "step") addStep(race, lane, line);
  else if (line.t === "end") lane.end = line.end;
  else if (line.t === "close") close(race, line);
  else if (line.t === "message") race.message = line.text;
  else if (line.t === "ask") race.ask = line.text;
  return lane;
}

function close(race, line) {
  race.close = line;
  alignStarts(race);
}

// The lane that the line in large type is about, if there is a cascade: see `CASCADES` in csd/stage/standing.py.
export function laneOfHeadline({ lanes }) {
  const fixed = lanes.findIndex(({ info }) => info.method === "cascade");
  return fixed < 0 ? lanes.length - 1 : fixed;
}

// A level as {name, label, role, level, mark, look}; names that the log does not list count as level 0.
export function levelOf(race, name) {
  return race.levels.get(name) || { name, label: name, role: "copier", level: 0, mark: "0", look: "0" };
}

// One entry for all levels with the same mark, weakest first: [{mark, look, role, labels}].
export function levelMarks(race) {
  const entries = new Map();
  for (const { mark, look, role, label } of race.open.levels) {
    if (!entries.has(mark)) entries.set(mark, { mark, look, role, labels: [] });
    entries.get(mark).labels.push(label);
  }
  return [...entries.values()];
}

// The entries of levelMarks that take part in a lane, the target first.
export function levelsOfLane(race, lane) {
  return levelMarks(race)
    .reverse()
    .filter(({ mark }) => lane.marks.has(mark) || lane.prefillSpans.has(mark));
}

export const isPlain = ({ info }) => info.method === "autoregressive";

// What a lane is called where it stands beside others: the big model alone by what it is, a method by its name.
export const titleOf = (lane) => (isPlain(lane) ? lane.info.words : lane.info.method);

function emptyLane(info, index) {
  return {
    info, // {method, label, rule, max}
    index,
    prefill: [], // lines
    steps: [], // reviews of the target, see addStep
    tokens: [], // {id, who, level, kind, step, position}; positions count from the first new token
    rejected: [], // runs of rejected tokens, see rejectedRuns
    end: "", // "eos", "budget" or "stopped"
    clock: 0, // seconds of the lane's own time
    decodeSeconds: 0,
    prefillSeconds: 0,
    overheadSeconds: 0, // of decoding: the time that no model ran
    seconds: new Map(), // by name of a level: {seconds, runs}
    spans: new Map(), // by mark, and OVERHEAD: start and end of every time in which that level computed, flat
    prefillSpans: new Map(), // the same for prefill
    marks: new Set(), // of the levels that took part
  };
}

function addPrefill(race, lane, line) {
  const end = line.c + line.d;
  lane.prefill.push(line);
  lane.clock = Math.max(lane.clock, end);
  lane.prefillSeconds += line.d;
  addSpan(lane.prefillSpans, levelOf(race, line.by).mark, line.c, end);
}

function addStep(race, lane, line) {
  const before = lane.steps[lane.steps.length - 1];
  const step = {
    line,
    number: lane.steps.length + 1,
    from: lane.tokens.length, // its first token
    count: lane.tokens.length + line.x.length, // tokens of the lane after it
    until: Math.max(line.c + line.d, before ? before.until + 1e-7 : 0), // end on the lane's clock
    decodeSeconds: (before ? before.decodeSeconds : 0) + line.d, // of the lane up to here
    targetSeconds: before ? before.targetSeconds : 0, // of them: in the target, see addTimes
    seconds: new Map(), // of this step, by the mark of the level that computed
    marks: { ...(before ? before.marks : {}) }, // tokens of the lane up to here, by mark
    rejected: [],
  };
  line.x.forEach((id, j) => {
    const who = authorOf(line, j);
    const level = levelOf(race, who);
    lane.tokens.push({ id, who, level, kind: tokenKind(line.r, j), step, position: lane.tokens.length });
    step.marks[level.mark] = (step.marks[level.mark] || 0) + 1;
  });
  for (const run of rejectedRuns(line.r)) {
    lane.rejected.push(Object.assign(run, { step, index: lane.rejected.length }));
    step.rejected.push(run);
  }
  step.rejected.sort((one, other) => one.at - other.at || one.inner - other.inner);
  addTimes(race, lane, line, step);
  lane.steps.push(step);
  lane.clock = step.until;
}

// Which level computed when in a step. A record's time is its own work; what no record covers is overhead.
function addTimes(race, lane, line, step) {
  const end = line.c + line.d;
  let until = line.c;
  for (const { record } of flattenRecords(line.r)) {
    const mark = levelOf(race, record.by).mark;
    addSpan(lane.spans, OVERHEAD, until, record.c);
    addSpan(lane.spans, mark, record.c, record.c + record.d);
    step.seconds.set(mark, (step.seconds.get(mark) || 0) + record.d);
    if (mark === "T") step.targetSeconds += record.d;
    until = Math.max(until, record.c + record.d);
    const total = lane.seconds.get(record.by) || { seconds: 0, runs: 0 };
    const runs = total.runs + (record.s ? 0 : 1);
    lane.seconds.set(record.by, { seconds: total.seconds + record.d, runs });
    lane.overheadSeconds -= record.d;
    lane.marks.add(mark);
  }
  addSpan(lane.spans, OVERHEAD, until, end);
  lane.decodeSeconds += line.d;
  lane.overheadSeconds += line.d;
}

function addSpan(spans, mark, from, to) {
  if (to <= from) return;
  if (!spans.has(mark)) spans.set(mark, []);
  spans.get(mark).push(from, to);
}
