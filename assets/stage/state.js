// The state of one stage: everything that its modules share, created once by index.js and passed to all of them.

import { emptyRace } from "./log.js";
import { longestClock, presentedSpeed, usualSpeed } from "./pace.js";

export const SPEEDS = ["auto", "0.02", "0.05", "0.2", "0.5", "1", "2", "4"];

export function createState(root) {
  return {
    root, // the <div class="cascade-stage">
    mode: "idle", // "live" while the race runs, "done" while all of it is shown, "replay" at a time before its end
    presenting: false, // full screen
    talk: null, // while presenting: what a clicker has told, see talk.js
    reviewOpen: false, // the opened review takes the place of the other lanes

    // the log
    raceId: null, // of the race that is shown
    firstId: null, // of the first one
    logLength: 0, // characters of its log that have been processed
    race: emptyRace(), // what the log says, see log.js

    // what is shown
    views: [], // one per lane, see lanes.js
    view: null, // of the selected lane
    token: null, // the selected token: its position in the selected lane; null where none is selected
    scrolledTo: 0, // where the page was when presenting began, in pixels
    time: Infinity, // seconds on the lanes' clocks; Infinity shows everything
    chosenView: "one", // how the visitor wants the text: "one" or "columns", see cursors.js
    pageView: "", // the same while the stage is presented, for the page to have back
    marked: {}, // nodes of the text that are framed, by class
    round: null, // of the opened review: rounds up to this one are shown; null shows all

    // the replay, see playback.js
    speed: SPEEDS[0],
    lasts: 0, // seconds that a replay takes whatever the speed; 0 leaves it to the speed
    early: false, // whether a page is being drawn beside it, which needs the time
    opening: null, // {acts, played} while the page's first replay plays: see opening.js, and for how many seconds
    frame: 0, // the next animation frame; 0 while nothing plays
    clock: 0, // the replay's own time; differs from `time` with reduced motion
    tickedAt: 0, // when the last frame was drawn
    endedAt: -Infinity, // when a replay last reached its end by itself
    scrubbing: false, // while the visitor drags, the opened review is drawn less often
    roundTimer: 0, // the next round of the opened review, while they are played
    placeKept: "", // the step that is looked into, as the tab keeps it, see keptstep.js
    returnsTo: [], // [race, lane, step], until that race has come: what was looked into when the page was loaded
    waitsFrom: Infinity, // the time that was shown when a race was asked for, to come back to where it is refused
    inside: null, // while one of them is shown: {step, time}, the step and the time to come back to

    // the parts of the page; each belongs to the module of its name
    message: null,
    pace: null,
    invitation: null,
    promptLine: null,
    bridge: null,
    headline: null,
    track: null,
    viewChoice: null,
    legend: null,
    lanesBox: null,
    transport: null,
    slideMarks: null,
    speaker: null,
    timeline: null,
    notes: null,
    review: null,
    charts: null,
    budget: null,
    plot: null,
    speech: null,
    tooltip: null,
    draw() {}, // draws all parts as of the fields above; set by index.js
  };
}

// Forgets the race; the parts of the page are cleared by index.js.
export function resetState(stage, raceId) {
  stage.firstId ||= raceId;
  Object.assign(stage, { raceId, logLength: 0, race: emptyRace(), views: [], view: null });
  Object.assign(stage, { token: null, time: Infinity, round: null, waitsFrom: Infinity, inside: null, marked: {} });
  stage.root.dataset.race = raceId;
  setMode(stage, "idle");
}

export function setMode(stage, mode) {
  stage.mode = mode;
  stage.root.dataset.state = mode;
}

export function totalTime(stage) {
  return longestClock(stage.race);
}

export function shownTime(stage) {
  return stage.time === Infinity ? totalTime(stage) : stage.time;
}

export function canReplay(stage) {
  return Boolean(stage.race.close && totalTime(stage) && stage.race.lanes.some(({ steps }) => steps.length));
}

export function isPlaying(stage) {
  return stage.frame !== 0;
}

export function speedFactor(stage) {
  if (stage.lasts) return totalTime(stage) / stage.lasts;
  if (stage.speed !== "auto") return Number(stage.speed);
  return (stage.presenting ? presentedSpeed : usualSpeed)(stage.race);
}

// The review that is open: the one whose rounds are shown, that of the selected token, else the last one shown of the selected lane.
export function selectedStep(stage) {
  if (!stage.view) return undefined;
  if (stage.inside) return stage.inside.step;
  const { lane, shown } = stage.view;
  return stage.token === null ? lane.steps[shown - 1] : lane.tokens[stage.token].step;
}

export function prefersReducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// Forgets every measured size: the stage has become wider or narrower, or its type larger.
export function forgetSizes(stage) {
  for (const view of stage.views) view.bottoms = view.ends = view.height = null;
  stage.plot.width = 0;
  stage.timeline.width = 0;
  stage.review.drawn = "";
  stage.review.step = null; // so that its type is fitted again
  stage.review.height = 0;
  stage.review.box.style.minHeight = "";
}

// Choices that are kept from visit to visit.
export function remembered(key, values) {
  try {
    const value = localStorage.getItem(key);
    return values.includes(value) ? value : values[0];
  } catch {
    return values[0];
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // storage may be blocked in a frame
  }
}
