// The stage: draws a race from its log, live and replayed. No dependencies. csd/stage/log.py describes the log;
// csd/stage/bundle.py joins these modules into one script that defines CascadeStage.
//
//   const stage = CascadeStage.mount(element)            element: an empty <div class="cascade-stage">; also its cascadeStage
//   CascadeStage.mount(element, {lasts})                 with replays of so many seconds, whatever speed the visitor chose
//   CascadeStage.mount(element, {early})                 to be seen only, while a page is drawn: it hears no keys and draws seldom
//   stage.update({race, log})                            the whole log so far; only what is new in it is processed
//   stage.play(), stage.pause(), stage.skip()            the replay of a finished race; skip goes to its end
//   stage.begin(from, played)                            the replay for which nobody asked, as a page begins with it, after so many seconds of it
//   stage.seek(seconds), stage.step(n), stage.token(n)   to a time; n reviews or tokens forward in the selected lane
//   stage.open(lane, step)                               the review of a step, while the time stays
//   stage.watch(more, longest)                           the rounds of the open review, one after the other; the first for so many ms more,
//                                                        and all in about `longest` ms at most
//   stage.endWatch()                                     shows them all at once; returns whether they were on their way
//   stage.place(), stage.goTo(lane, step, {word, inside})  where the replay stands, for a link, and that step again, whose review
//                                                        is opened unless `inside` is false
//   CascadeStage.explain(element)                       explains the terms outside the stage, see terms.js
//   stage.wait(on)                                       from the start of a new race to its end: until its log comes the old
//                                                        one stands still
//
// Data, without a page:  text, records, log, pending, score, narrate, facts, format, timescale, labels
// State and the replay:  state, pace, opening, playback, rounds
// Parts of the page:     invitation, promptline (promptfield), headline (bet), track (bars), legend (viewmenu), cursors, lanes (lanetext, clipboard, wrongwords, tokennodes, joins, textsize), review (scoregrid, scoreaxes, scorekey, telling, keptstep), explanation,
//                        transport, charts (plot, timeline, budget; strips draws the timeline), tooltip, terms, speech, keys, present (talk, speaker, racenote, entries), bridge; dom and linestyle
//                        build elements

import { reopenBet } from "./bet.js";
import { createBridge, openBridge, showRacing } from "./bridge.js";
import { buildBudget, clearBudget, createBudget } from "./budget.js";
import { createCharts, drawCharts, restoreChart } from "./charts.js";
import { createViewChoice, drawCursors, drawView, restoreView } from "./cursors.js";
import { h, put } from "./dom.js";
import { askHeadline, clearHeadline, createHeadline, drawHeadline, fillHeadline } from "./headline.js";
import { createKeysHelp, listenToKeys } from "./keys.js";
import { watchBack, watchPointer } from "./present.js";
import { createLanesBox, drawLanes, openLanes, showVerdicts } from "./lanes.js";
import { appendSteps, followText, markSelection } from "./lanetext.js";
import { clearLegend, createLegend, drawLegend, openLegend, restoreChoices } from "./legend.js";
import { addLine } from "./log.js";
import { keepStep, keptStep, returnToStep } from "./keptstep.js";
import { createInvitation, drawInvitation, dropInvitation } from "./invitation.js";
import { comeBack, goTo, halt, openStep, pause, placeOf, play, playUnasked, scrub, showAll, skip, stepReview, stepToken, touch, waitForRace } from "./playback.js";
import { canFollow, tellPace } from "./pace.js";
import { clearPlot, createPlot, openPlot } from "./plot.js";
import { showOpening, tellOpeningPace } from "./opening.js";
import { createPromptLine, drawPromptLine, tellRefusal } from "./promptline.js";
import { drawRaceNote } from "./racenote.js";
import { clearReview, createReview, drawReview, openReview, spoilGuess } from "./review.js";
import { endRounds, playRounds } from "./rounds.js";
import { createSpeaker } from "./speaker.js";
import { createSpeech, say, sayReview } from "./speech.js";
import { canReplay, createState, forgetSizes, isPlaying, prefersReducedMotion, resetState, setMode, speedFactor } from "./state.js";
import { clearTimeline, createTimeline, openTimeline } from "./timeline.js";
import { createSlideMarks, welcomeBack } from "./talk.js";
import { explainTerms } from "./terms.js";
import { fitText } from "./textsize.js";
import { createTooltip, hideTooltip, watchRest } from "./tooltip.js";
import { createViewMenu } from "./viewmenu.js";
import { createExplanation, drawExplanation } from "./explanation.js";
import { clearTrack, createTrack, drawTrack, openTrack } from "./track.js";
import { clearTransport, createTransport, drawTransport } from "./transport.js";

export const explain = explainTerms;

export function mount(root, { lasts = 0, early = false } = {}) {
  const stage = Object.assign(createState(root), { lasts, early });
  createParts(stage);
  clearTransport(stage);
  restoreChoices(stage);
  restoreView(stage);
  restoreChart(stage);
  if (!early && !lasts) stage.returnsTo = keptStep();
  if (!early) listenToKeys(stage);
  watchPointer(stage);
  if (!lasts && !early) watchBack(stage);
  watchSize(stage);
  window.addEventListener("cascade-prompt", () => stage.race.open && tellPaceOf(stage)); // after the prompt's own line
  explainTerms(root);
  root.cascadeStage = {
    update: (value) => update(stage, value || {}),
    play: (from) => play(stage, from),
    begin: (from, played) => playUnasked(stage, from, played),
    pause: () => pause(stage),
    skip: () => skip(stage),
    seek(to) {
      scrub(stage, to);
      sayReview(stage);
    },
    step: (by) => stepReview(stage, by),
    token: (by) => stepToken(stage, by),
    place: () => placeOf(stage),
    goTo(lane, step, { word, inside = true } = {}) {
      const isThere = goTo(stage, lane, step, word);
      if (isThere) openReview(stage, inside);
      return isThere;
    },
    open(lane, step) {
      openStep(stage, lane, step);
      openReview(stage, true);
    },
    spoil: (place, word) => spoilGuess(stage, place, word),
    watch: (more, longest) => playRounds(stage, more, longest),
    endWatch: () => endRounds(stage),
    wait: (on, refusal) => wait(stage, on, refusal),
    get race() {
      return stage.race;
    },
    get time() {
      return stage.time;
    },
    get played() { return stage.opening?.played; },
  };
  return root.cascadeStage;
}

function createParts(stage) {
  const { root } = stage;
  Object.assign(stage, {
    draw: () => draw(stage),
    message: h("p", { class: "cs-message" }),
    notes: h("ul", { class: "cs-notes" }),
    pace: h("span", { class: "cs-pace", title: "Lanes take turns on one device; each has a clock of its own." }),
    invitation: createInvitation(),
    promptLine: createPromptLine(stage),
    bridge: createBridge(stage),
    headline: createHeadline(stage),
    track: createTrack(),
    viewChoice: createViewChoice(stage),
    legend: createLegend(stage),
    lanesBox: createLanesBox(),
    transport: createTransport(stage),
    slideMarks: createSlideMarks(),
    speaker: createSpeaker(),
    timeline: createTimeline(stage),
    explanation: createExplanation(),
    budget: createBudget(),
    plot: createPlot(),
    speech: createSpeech(),
    tooltip: createTooltip(),
    isResting: watchRest(),
  });
  stage.review = createReview(stage);
  stage.headline.box.prepend(stage.pace);
  stage.charts = createCharts(stage, { speed: stage.plot.box, computed: stage.timeline.box, time: stage.budget });
  stage.transport.present.before(createViewMenu(...stage.legend.rows, stage.viewChoice.box, stage.transport.speedRow));
  stage.promptLine.box.append(stage.bridge.box);
  const body = h("div", { class: "cs-body" },
    stage.promptLine.box, stage.headline.box, stage.track.box, stage.legend.box, stage.lanesBox, stage.transport.box,
    stage.review.box, stage.charts.box, stage.message, stage.notes, createKeysHelp(), stage.slideMarks.box);
  root.replaceChildren(stage.invitation.box, body, stage.speech, stage.tooltip);
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Stage of the race");
  root.tabIndex = 0;
  root.removeAttribute("data-present");
}

// Adds what is new in a log, or begins anew where it is another race's.
function update(stage, { race: id = "", log = "" }) {
  if (!id || id !== stage.raceId || log.length < stage.logLength) reset(stage, id);
  const end = log.lastIndexOf("\n") + 1;
  if (end <= stage.logLength) return;
  const isWhole = stage.logLength === 0; // all at once: an earlier race
  const lines = log.slice(stage.logLength, end).split("\n").filter(Boolean);
  stage.logLength = end;
  stage.root.removeAttribute("data-waiting");
  const touched = new Set();
  for (const line of lines.map((text) => JSON.parse(text))) {
    const lane = addLine(stage.race, line);
    if (line.t === "open") open(stage);
    else if (lane) touched.add(lane);
  }
  put(stage.message, stage.race.message);
  drawInvitation(stage);
  if (!stage.race.open) return;
  for (const lane of touched) appendSteps(stage, stage.views[lane.index]);
  if (stage.race.ask) stage.root.setAttribute("data-refused", ""); // on the stage is the race before the one that was asked for
  else if (stage.mode === "replay") return; // the replay draws what came in
  if (stage.race.close) finish(stage, isWhole);
  else draw(stage);
}

// Waits for a race that the page asked for, or ends the wait; `refusal` says why a race was refused.
function wait(stage, on, refusal = "") {
  if (on) waitForRace(stage);
  if (refusal) comeBack(stage);
  stage.root.toggleAttribute("data-waiting", on);
  stage.root.toggleAttribute("data-refused", Boolean(refusal));
  tellRefusal(stage, refusal);
  showRacing(stage, on);
  if (on) askHeadline(stage);
  if (on) dropInvitation(stage);
  if (stage.race.open) tellPaceOf(stage);
}

function reset(stage, id) {
  halt(stage);
  touch(stage);
  stage.root.removeAttribute("data-waiting");
  resetState(stage, id);
  clearHeadline(stage);
  clearTrack(stage);
  clearLegend(stage);
  clearTimeline(stage);
  clearReview(stage);
  clearBudget(stage);
  clearPlot(stage);
  clearTransport(stage);
  stage.lanesBox.replaceChildren();
  stage.notes.replaceChildren();
  put(stage.message, "");
  drawInvitation(stage);
  put(stage.pace, "");
  say(stage, "");
  hideTooltip(stage);
}

function open(stage) {
  setMode(stage, "live");
  openBridge(stage);
  openLanes(stage);
  openTrack(stage);
  openLegend(stage);
  openPlot(stage);
  openTimeline(stage);
  drawView(stage);
  fitText(stage);
}

function finish(stage, isWhole) {
  const { close } = stage.race;
  showVerdicts(stage);
  fillHeadline(stage);
  stage.notes.replaceChildren(...(close.notes || []).map((text) => h("li", { text })));
  buildBudget(stage);
  forgetSizes(stage); // the clocks have been set anew
  leaveEmptyLane(stage);
  showAll(stage);
  const isLookedInto = stage.token !== null; // a replay would take the step away
  const wasStopped = stage.root.hasAttribute("data-stopped") || stage.race.lanes.some(({ end }) => end === "stopped"); // or was about to be, see assets/page/racing.js
  const wasWatched = !isWhole && (isLookedInto || canFollow(stage.race) || wasStopped);
  if (isWhole && returnToStep(stage)) return;
  if (close.play && !stage.race.ask && canReplay(stage) && !wasWatched && !prefersReducedMotion()) playUnasked(stage);
  else if (!isWhole || close.play) say(stage, close.summary || "");
  if (isPlaying(stage)) reopenBet(stage);
  welcomeBack(stage);
}

// A race that was stopped may have no text in the lane that it is about, and some in others.
function leaveEmptyLane(stage) {
  const length = ({ lane }) => lane.tokens.length;
  if (!length(stage.view)) stage.view = stage.views.reduce((most, view) => (length(view) > length(most) ? view : most), stage.view);
}

// Draws everything as of the time shown. Only what changes is touched.
function draw(stage) {
  showOpening(stage);
  drawPromptLine(stage);
  tellPaceOf(stage); // which tells whether the form has another prompt
  drawView(stage);
  drawLanes(stage);
  drawHeadline(stage);
  drawTrack(stage);
  drawLegend(stage);
  drawExplanation(stage);
  drawReview(stage);
  keepStep(stage);
  drawTransport(stage);
  if (stage.view) markSelection(stage);
  drawCharts(stage);
  followText(stage);
  drawCursors(stage);
  drawRaceNote(stage);
}

// Under a refusal, and beside another prompt in the form, the stage says that it
// does not show the race that is asked for.
function tellPaceOf(stage) {
  const before = stage.root.matches("[data-refused], [data-other]") ? "previous race" : "";
  put(stage.pace, stage.opening ? tellOpeningPace(stage) : tellPace(stage.mode, speedFactor(stage)) || before);
}

function watchSize(stage) {
  const { root, lanesBox } = stage;
  let known = "";
  const observer = new ResizeObserver(() => {
    if (!stage.race.open) return;
    const lanes = [lanesBox.clientWidth, stage.views[0].text.clientHeight]; // nothing while a review takes their place
    const size = [...lanes, root.clientWidth, stage.presenting ? root.clientHeight : 0].join(" ");
    if (size === known) return;
    known = size;
    fitText(stage);
    forgetSizes(stage);
    draw(stage);
  });
  for (const node of [lanesBox, root]) observer.observe(node);
}
