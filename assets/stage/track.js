// The race track: a row per lane, with its bar and its figures.

import { clipBar, createBar, drawBar, drawPending } from "./bars.js";
import { awaitsBet } from "./bet.js";
import { h, put } from "./dom.js";
import { countRuns, formatRate, formatRatio, formatSeconds } from "./format.js";
import { laneKey } from "./linestyle.js";
import { isPlain, levelOf, titleOf } from "./log.js";
import { guessesOf, isChecking } from "./opening.js";
import { drawPhoto, firstDone, photoTitle } from "./photofinish.js";
import { goTo, openStep, selectLane } from "./playback.js";
import { toggleReview } from "./review.js";
import { term } from "./terms.js";

const UNKNOWN = "\u2013"; // in place of a factor
const SHORT = 32; // tokens below which a speed says little, as SHORT_RUN in csd/record/metrics.py
const WORDY = 40; // letters of the title from which the key beside it is shorter
const EVEN = 0.05; // speeds that differ by less are equal, as in csd/stage/standing.py

export function createTrack() {
  return {
    box: h("section", { class: "cs-track", "aria-label": "Race track" }),
    goal: h("span"), // where the bars end
    unit: term("token", "tokens"),
    ends: h("span", { class: "cs-ends" }, h("span", { class: "cs-done", text: "done " }), "after"), // how long, at the ends of the bars
    key: h("span", { class: "cs-jump" }), // what its colours are
    drawn: "", // what the key was made for
    rows: [], // one per lane, see createRow
  };
}

export function openTrack(stage) {
  const { track, views } = stage;
  track.rows = views.map((view) => createRow(stage, view));
  track.box.replaceChildren(createHead(stage), ...track.rows.map((row) => row.box));
}

export function clearTrack({ track }) {
  Object.assign(track, { rows: [], drawn: "" });
  track.box.replaceChildren();
}

// Draws every lane as of the time shown.
export function drawTrack(stage) {
  const { track, race, views, view } = stage;
  const longest = Math.max(...views.map(({ lane }) => lane.decodeSeconds));
  const end = finishLine(race);
  put(track.goal, `\u2691 ${end} `);
  put(track.unit, end === 1 ? "token" : "tokens");
  const first = stage.mode === "done" ? firstDone(race) : null; // one clock at a time: until then the bars follow the replay's
  const words = photoTitle(first, longest);
  const key = words.join("");
  if (track.drawn !== key) track.key.replaceChildren(...createKey(race, words));
  track.drawn = key;
  const reference = views.find(({ lane }) => isPlain(lane));
  track.box.toggleAttribute("data-few", isShort(race));
  const best = isShort(race) || wasStopped(race) ? new Set() : winners(views);
  for (const row of track.rows) {
    drawBar(race, row.bar, row.view.lane, end);
    clipBar(row.bar, row.view, end);
    drawPending(race, row.bar, row.view.guesses, end, guessesOf(stage, row.view));
    drawPhoto(row.bar, row.view.lane, first, end, longest);
    drawFigures(stage, row, reference, longest);
    row.box.toggleAttribute("data-first", best.has(row.view));
    row.box.classList.toggle("cs-selected", row.view === view && views.length > 1);
  }
}

function createKey(race, words) {
  const ofWhom = words.join("").length > WORDY ? "" : " of the big model"; // what a pale token is must have room
  const run = h("span", { class: "cs-run-key" }, swatch("T"), " = a ", term("run"), h("span", { class: "cs-of-whom", text: ofWhom }));
  const guess = h("span", { class: "cs-guess-key" }, swatch("guess"), " = guessed", h("span", { class: "cs-frame-key" }, swatch("frame"), " = being checked"));
  const guesses = race.lanes.every(isPlain) ? [] : [guess];
  const later = h("span", { class: "cs-later-key" }, swatch("later"), " = not yet written");
  later.hidden = !words[1]; // the bars are whole
  return [h("b", { class: "cs-track-title" }, words[0], h("span", { class: "cs-when", text: words[1] })), run, ...guesses, later];
}

function swatch(look) {
  return h("i", { class: "cs-swatch", "data-look": look, "aria-hidden": "true" });
}

// The titles of the columns.
function createHead({ track }) {
  return h("div", { class: "cs-track-head" }, h("span"),
    h("span", { class: "cs-track-caption" }, track.key, h("span", { class: "cs-goal" }, track.goal, track.unit), track.ends),
    h("span", { class: "cs-runs" }, term("big model")),
    h("span", { class: "cs-outcome" }, term("speed")));
}

function createRow(stage, view) {
  const { info, index } = view.lane;
  const select = h("button", { type: "button", class: "cs-name", "data-term": info.method, "data-exact": tellSettings(stage.race, info),
                               onclick: () => selectLane(stage, view) },
    laneKey(info), h("span", {}, h("b", { text: titleOf(view.lane) }), h("small", { text: isPlain(view.lane) ? info.method : info.words })));
  const row = {
    view,
    bar: createBar(),
    runs: h("b"),
    ratio: h("b", { class: "cs-ratio" }),
    rate: h("small", { class: "cs-rate" }),
    clock: h("b", { class: "cs-clock", "data-term": "drafting" }), // at the end of the bar
  };
  row.outcome = h("span", { class: "cs-outcome", "data-term": "speed" }, row.ratio, row.rate);
  row.bar.box.append(row.clock);
  row.bar.box.addEventListener("click", (event) => openAt(stage, view, event));
  row.box = h("div", { class: "cs-track-row", "data-lane": index, "data-plain": isPlain(view.lane) }, select, row.bar.box,
    h("span", { class: "cs-runs" }, row.runs),
    row.outcome);
  return row;
}

// Who guesses how far, in words, and the settings as the method has them.
function tellSettings({ open }, { label, words, plan }) {
  const asked = open.levels.filter(({ name }) => plan?.[name]).reverse().map(({ name, role }) => `${plan[name]} from ${role}`);
  return [asked.length ? `big model checks ${asked.join(", ")}` : words, label].filter(Boolean).join("; ");
}

// A click on a bar opens the step that wrote there; the pictures of the tour are as their act shows them.
function openAt(stage, view, { target, clientX, currentTarget }) {
  if (stage.lasts || target.closest(".cs-clock")) return;
  const { left, width } = currentTarget.getBoundingClientRect();
  const count = ((clientX - left) / width) * finishLine(stage.race);
  const { steps, index } = view.lane;
  const step = steps.find((one) => one.count > count);
  if (!step) return;
  if (!goTo(stage, index + 1, step.number)) openStep(stage, index + 1, step.number);
  if (!stage.reviewOpen) toggleReview(stage);
}

// How many tokens the finish line stands for. All lanes that have ended by themselves wrote the whole text; where none
// has, it stays at what was asked for.
function finishLine(race) {
  const written = Math.max(1, ...race.lanes.map((lane) => lane.tokens.length));
  const ended = race.lanes.some((lane) => lane.end && lane.end !== "stopped");
  return ended ? written : Math.max(written, ...race.open.lanes.map((lane) => lane.max));
}

// A lane runs at a rate; its factor takes the place of the rate when the lane has finished, as soon as both speeds are known and a bet is placed, and stands
// still: in the middle of a race a speed is no result. The time is that of decoding, from which the factor comes.
function drawFigures(stage, row, reference, longest) {
  const { race } = stage;
  const { view } = row;
  const { lane, shown, rate, state } = view;
  const isOver = state === "done" || state === "stopped";
  const isFinal = reference && isOver && reference.lane.end && !awaitsBet(stage);
  const factor = isFinal && finalRate(reference.lane) ? tellFactor(race, lane, reference.lane) : "";
  const speed = rate ? `${formatRate(rate)} tok/s` : state;
  const isLive = stage.mode === "live" || !reference; // a replay shows no speed that is not the result
  put(row.ratio, factor);
  put(row.rate, factor || !(isLive || isOver) || (isOver && awaitsBet(stage)) ? "" : speed); // a rate tells as much as a factor
  row.outcome.dataset.exact = speed;
  const runs = countTargetRuns(race, view) + (isChecking(stage) && view === stage.view ? 1 : 0); // the one that is under way
  put(row.runs, runs || stage.opening || (isOver && shown) ? `${runs} run${runs === 1 ? "" : "s"}` : "");
  const step = lane.steps[shown - 1];
  put(row.clock, tellClock(stage, lane, isOver ? step : null, longest));
  const [target, rest] = step ? [step.targetSeconds, Math.max(0, step.decodeSeconds - step.targetSeconds)] : [0, 0];
  const each = runs ? ` in ${countRuns(runs, "T")}, ${formatSeconds(target / runs)} each` : ""; // a run that checks guesses takes longer
  row.clock.dataset.exact = `big model ${formatSeconds(target)}${each}; guessing and overhead ${formatSeconds(rest)}`;
  row.box.dataset.laneState = state;
}

// When a lane was done, after its last step.
function tellClock({ mode }, { steps, end }, last, longest) {
  if (mode === "done" && !steps.length) return "not run";
  if (!last) return "";
  return end === "stopped" ? "stopped" : formatSeconds(last.decodeSeconds, longest);
}

// Roughly where one of the two was stopped, for then they wrote texts of different lengths.
function tellFactor(race, lane, reference) {
  const both = [lane, reference];
  if (isShort(race) || both.some(wasCutShort)) return UNKNOWN;
  const about = lane !== reference && both.some(({ end }) => end === "stopped") ? "\u2248" : "";
  return `${about}${formatRatio(finalRate(lane) / finalRate(reference))}`;
}

// Whether the texts are too short to judge a speed.
function isShort({ close }) {
  return Boolean(close && close.headline && close.headline.few);
}

// Whether a lane was stopped before its speed says much.
function wasCutShort({ end, tokens }) {
  return end === "stopped" && tokens.length < SHORT;
}

// Whether a lane was stopped: then the race has no winner.
function wasStopped({ lanes }) {
  return lanes.some(({ end }) => end === "stopped");
}

// Forward passes of the target up to the time shown; none in a lane that it does not review.
function countTargetRuns(race, { lane, shown }) {
  const [first] = lane.steps;
  return first && levelOf(race, first.line.r.by).mark === "T" ? shown : 0;
}

function finalRate(lane) {
  return lane.decodeSeconds ? lane.tokens.length / lane.decodeSeconds : 0;
}

// The fastest lanes of those that have written the whole text, by the same speed as the factor; equals share the place, and
// a draw with the big model alone has no winner.
function winners(views) {
  const done = views.filter((view) => view.state === "done");
  if (done.length < 2 || done.length < views.length) return new Set(); // the last one may still win
  const best = Math.max(...done.map((view) => finalRate(view.lane)));
  const first = done.filter((view) => finalRate(view.lane) * (1 + EVEN) >= best);
  const isDraw = first.length > 1 && first.some(({ lane }) => isPlain(lane));
  return new Set(isDraw ? [] : first);
}
