// The replay: moves the time shown and the selection, by itself or as the visitor says.

import { closeBet } from "./bet.js";
import { isPlain } from "./log.js";
import { isOver, openingActs, timeAt } from "./opening.js";
import { say, sayReview, sayToken } from "./speech.js";
import { SPEEDS, canReplay, isPlaying, prefersReducedMotion, remember, selectedStep } from "./state.js";
import { setMode, speedFactor, totalTime } from "./state.js";

const SELDOM = 60; // milliseconds between two frames while a page is drawn
const LONGEST_FRAME = 0.1; // seconds: a page in the background gets no frames, and the replay waits for it
const LONGEST_EARLY = 0.4; // while a page is drawn, whose result is waited for

export function play(stage, from) {
  if (!canReplay(stage)) return;
  if (stage.opening && from === undefined) return run(stage);
  deselect(stage);
  seek(stage, from === undefined ? (stage.time === Infinity ? 0 : stage.time) : from);
  if (stage.time === Infinity) return;
  say(stage, "");
  stage.clock = stage.time;
  run(stage);
}

function run(stage) {
  cancelAnimationFrame(stage.frame); // it may be playing
  stage.tickedAt = 0;
  stage.frame = requestAnimationFrame((now) => tick(stage, now));
  stage.draw();
}

// A replay that begins by itself: until it ends or a visitor touches the stage, there is nothing on it but the race. The page's first one
// goes on where it had been played for so many seconds.
export function playUnasked(stage, from = 0, played = 0) {
  play(stage, from);
  const isFirst = stage.raceId === stage.firstId && stage.speed === SPEEDS[0] && !stage.lasts;
  const plain = stage.race.lanes.find(isPlain);
  const acts = isFirst && isPlaying(stage) ? openingActs(stage.view.lane, plain, speedFactor(stage)) : [];
  if (acts.length) {
    stage.opening = { acts, played };
    stage.time = stage.clock = timeAt(stage.opening);
  }
  stage.root.toggleAttribute("data-unasked", isPlaying(stage));
  stage.root.setAttribute("data-no-step", "");
  stage.draw();
}

// From then on the stage tells of a step. Until a visitor touches it, and where the whole race is shown, it says how to read the race.
export function touch({ root }) {
  root.removeAttribute("data-no-step");
}

// The page's first replay rests in its picture, which is of no step; any other one at a step.
export function pause(stage) {
  if (!isPlaying(stage)) return;
  if (stage.opening) return rest(stage);
  halt(stage);
  touch(stage);
  stage.draw();
  sayReview(stage);
}

function rest(stage) {
  cancelAnimationFrame(stage.frame);
  stage.frame = 0;
  stage.draw();
}

export function togglePlay(stage) {
  if (isPlaying(stage)) pause(stage);
  else play(stage);
}

// Goes to the end of the race.
export function skip(stage) {
  if (stage.mode !== "replay") return;
  showAll(stage);
  say(stage, stage.race.close.summary || "");
}

// Stops what moves by itself.
export function halt(stage) {
  cancelAnimationFrame(stage.frame);
  clearTimeout(stage.roundTimer);
  stage.root.removeAttribute("data-unasked");
  stage.opening = null;
  stage.frame = 0;
  stage.roundTimer = 0;
}

// Shows the whole race; what is selected stays selected. Where nothing is, there is no step to tell of: see `touch`.
export function showAll(stage) {
  halt(stage);
  leaveStep(stage);
  if (stage.token === null && !stage.reviewOpen) stage.root.setAttribute("data-no-step", "");
  stage.time = Infinity;
  setMode(stage, "done");
  for (const view of stage.views) view.follow = stage.token === null || view !== stage.view;
  stage.draw();
}

// Shows the whole race while another one is asked for.
export function waitForRace(stage) {
  if (!canReplay(stage)) return;
  stage.waitsFrom = stage.opening ? Infinity : stage.time; // whose pictures no pause can show
  showAll(stage);
}

// Where that one is refused, back to what was shown before, but for the opening.
export function comeBack(stage) {
  const { token, waitsFrom } = stage;
  stage.waitsFrom = Infinity;
  if (canReplay(stage) && token === null && waitsFrom !== Infinity) jump(stage, waitsFrom);
}

// Goes to a time while the visitor drags.
export function scrub(stage, to) {
  deselect(stage);
  stage.scrubbing = true;
  seek(stage, to);
  stage.scrubbing = false;
}

export function jump(stage, to) {
  deselect(stage);
  seek(stage, to);
  sayReview(stage);
}

// Goes `by` reviews of the selected lane forward, or back where it is negative; from the end of the race it begins anew. While
// a race runs, from a step that was chosen.
export function stepReview(stage, by) {
  const { lane, shown } = stage.view;
  const { length } = lane.steps;
  const isChosen = stage.token !== null || Boolean(stage.inside);
  const here = isChosen ? selectedStep(stage).number : shown;
  const near = Math.min(Math.max(1, here + by), length);
  if (!canReplay(stage)) return isChosen && near !== here ? openStep(stage, lane.index + 1, near) : undefined;
  const n = stage.reviewOpen ? near // an open review is one of a step
    : stage.time === Infinity && !isChosen && by > 0 ? by : here + by;
  jump(stage, n > length ? Infinity : n > 0 ? lane.steps[n - 1].until : 0);
}

export function stepToken(stage, by) {
  if (!canReplay(stage) || !stage.view.lane.tokens.length) return;
  const { lane, shown } = stage.view;
  const count = shown ? lane.steps[shown - 1].count : 0;
  const here = stage.token !== null ? stage.token : by > 0 ? count - 1 : count;
  selectToken(stage, stage.view, here + by);
}

export function selectLane(stage, view) {
  stage.view = view;
  leaveOpening(stage); // which is about one lane
  deselect(stage);
  stage.draw();
  sayReview(stage);
}

// Selects a token and goes to the review that wrote it.
export function selectToken(stage, view, position) {
  const inside = view.text.contains(document.activeElement) && document.activeElement !== view.text;
  const before = stage.view === view ? selectedStep(stage) : null;
  touch(stage);
  leaveStep(stage);
  stage.view = view;
  stage.token = Math.max(0, Math.min(view.lane.tokens.length - 1, position));
  const token = view.lane.tokens[stage.token];
  if (token.step !== before) stage.round = null;
  view.follow = false; // it stays in sight while the race goes on
  seek(stage, token.step.until);
  if (inside) view.tokenNodes[stage.token].focus({ preventScroll: true });
  if (token.step !== before) sayReview(stage);
  else sayToken(stage, token);
}

function leaveOpening(stage) {
  if (stage.opening && !isPlaying(stage)) halt(stage);
  stage.opening = null;
}

export function setSpeed(stage, value) {
  stage.speed = value;
  leaveOpening(stage); // whose acts have speeds of their own
  remember("cascade-speed", value);
  stage.draw();
}

// The next higher speed, or the next lower one where `by` is negative.
export function changeSpeed(stage, by) {
  const values = SPEEDS.slice(1).map(Number);
  const now = speedFactor(stage);
  const higher = () => values.find((value) => value > now * 1.001);
  const lower = () => values.reverse().find((value) => value < now * 0.999);
  const next = by > 0 ? higher() : lower();
  if (next) setSpeed(stage, String(next));
}

// Where the replay stands, counted from 1: {race, lane, step, word, inside}; `word` where a token is selected, and `inside` says
// whether the review is open. Without a step all of the race is shown.
export function placeOf(stage) {
  const { raceId: race, view, time } = stage;
  const step = view && time !== Infinity ? selectedStep(stage) : null;
  if (!step) return { race };
  const word = stage.token === null ? {} : { word: stage.token + 1 };
  return { race, lane: view.lane.index + 1, step: step.number, ...word, inside: stage.reviewOpen };
}

// Goes to a step of a lane of a finished race, and selects a token of that step; all count from 1. Returns whether there is
// such a step.
export function goTo(stage, lane, step, word = 0) {
  const view = stage.views[lane - 1];
  const found = canReplay(stage) && view && view.lane.steps[step - 1];
  if (!found) return false;
  closeBet(stage);
  selectLane(stage, view);
  jump(stage, found.until);
  const token = view.lane.tokens[word - 1];
  if (token && token.step === found) selectToken(stage, view, word - 1);
  return true;
}

// Opens the review of a step; both count from 1. The time that is shown stays.
export function openStep(stage, lane, step) {
  const view = stage.views[lane - 1];
  halt(stage);
  touch(stage);
  leaveStep(stage);
  Object.assign(stage, { view, token: view.lane.steps[step - 1].from, round: null });
  stage.draw();
}

// Shows all lanes as they were when a run of the open step had ended; the step stays open.
export function enterStep(stage, record) {
  if (!canReplay(stage)) return;
  const { step, time } = stage.inside ?? { step: selectedStep(stage), time: stage.time };
  stage.inside = { step, time };
  stage.time = record === step.line.r ? step.until : record.c + record.d;
  setMode(stage, "replay");
}

// Back to the time from which the step was entered.
export function leaveStep(stage) {
  if (!stage.inside) return;
  stage.time = stage.inside.time;
  stage.inside = null;
  setMode(stage, stage.time === Infinity ? "done" : "replay");
}

function seek(stage, to) {
  if (!canReplay(stage)) return stage.draw();
  halt(stage);
  if (to >= totalTime(stage)) return showAll(stage);
  stage.time = Math.max(0, to);
  setMode(stage, "replay");
  for (const view of stage.views) view.follow = true;
  stage.draw();
}

function tick(stage, now) {
  if (stage.early && now - stage.tickedAt < SELDOM) {
    stage.frame = requestAnimationFrame((next) => tick(stage, next));
    return;
  }
  const passed = stage.tickedAt ? Math.min(stage.early ? LONGEST_EARLY : LONGEST_FRAME, (now - stage.tickedAt) / 1000) : 0;
  stage.tickedAt = now;
  stage.clock = clockAfter(stage, passed);
  if (stage.clock >= totalTime(stage) || (stage.opening && isOver(stage.opening))) {
    stage.endedAt = now;
    return skip(stage);
  }
  const to = prefersReducedMotion() ? lastReviewBefore(stage, stage.clock) : stage.clock;
  stage.frame = requestAnimationFrame((next) => tick(stage, next));
  if (to === stage.time && !stage.opening) return;
  stage.time = to;
  stage.draw();
}

// What the replay's clock shows so many seconds later.
function clockAfter(stage, seconds) {
  const { opening, clock } = stage;
  if (!opening) return clock + seconds * speedFactor(stage);
  opening.played += seconds;
  return timeAt(opening);
}

// With reduced motion the replay goes from review to review of the selected lane, then of the others.
function lastReviewBefore(stage, time) {
  const isOver = stage.view.lane.clock <= time;
  const views = stage.views.filter((view) => isOver || view === stage.view);
  const ends = views.flatMap((view) => view.lane.steps.map((step) => step.until).filter((until) => until <= time));
  return Math.max(0, ...ends);
}

function deselect(stage) {
  touch(stage);
  leaveStep(stage);
  stage.token = stage.round = null;
}
