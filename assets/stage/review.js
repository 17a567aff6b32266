// The panel below the lanes that opens one review: a sentence, on the selected token if there is one, and the score of its rounds. The
// score is opened on demand and takes the place of the other lanes, so that it fits into the window.

import { button, h, iconButton, put } from "./dom.js";
import { enter, leave } from "./entries.js";
import { cellFacts, tokenFacts } from "./facts.js";
import { countTokens, formatSeconds } from "./format.js";
import { tellResult, tellRoundSentence } from "./narrate.js";
import { jump, pause, showAll, touch } from "./playback.js";
import { playRounds, stepRound } from "./rounds.js";
import { reviewScore } from "./score.js";
import { buildScore, drawScore, scrollOn, scrollToBox, showMore } from "./scoregrid.js";
import { createKey } from "./scorekey.js";
import { spoilStep, WRONG } from "./spoiled.js";
import { forgetSizes, isPlaying, selectedStep } from "./state.js";
import { findTelling, tellShown } from "./telling.js";
import { term } from "./terms.js";
import { hideTooltip, showTooltip } from "./tooltip.js";

const PAUSE = 350; // milliseconds between two drawings of the score while something moves
const LITTLE = 100; // pixels by which the page may be moved without a thought
const BRIEF = 100; // and of the sentence alone

export function createReview(stage) {
  const review = {
    which: h("span", { class: "cs-which" }), // the step
    what: h("span"), // came of it
    telling: button("cs-link cs-telling", "", { onclick: () => jump(stage, findTelling(stage).until) }), // to a step with more to see
    why: h("span", { class: "cs-why", text: "the step with most to see", hidden: true }), // was opened
    told: h("p", { class: "cs-told" }),
    ...createRounds(stage),
    grid: h("div", { class: "cs-score", tabindex: "0", role: "group", "aria-label": "The review, level by level" }),
    key: h("p", { class: "cs-score-key" }), // what its signs mean
    more: button("cs-link cs-score-more", "", { onclick: () => scrollOn(review.grid), hidden: true }),
    result: "", // of the step in a sentence
    step: null, // that is open, of this lane
    chosen: null, // step that was opened because it has most to see
    lane: null,
    isWhole: false, // whether that lane has ended, so that the number of its steps is known
    wrong: null, // the place of the guess that is shown as if it had been wrong
    score: null, // see score.js
    drawn: "", // what the panel shows
    drawnAt: 0,
    height: 0, // the panel grows and does not shrink, not for the next race either: nothing below it jumps
    inSight: true,
    hasEntry: false, // in the browser's history, which Back leaves
    isLeft: false, // whether it has just been closed otherwise than by Back, so that the browser goes back
    fromEnd: false, // whether it was opened at the end of the race
  };
  review.title = h("b", { class: "cs-score-title" }, review.which, review.what);
  review.box = h("section", { class: "cs-opened", "aria-label": "What happens in a step" },
    h("div", { class: "cs-score-head" }, review.title, review.telling, review.why, review.rounds), stage.explanation.box, review.told, review.roundTold, review.grid,
    review.more, review.key);
  review.grid.addEventListener("pointerover", (event) => !stage.isResting(event) && showCellTooltip(stage, event.target.closest(".cs-cell")));
  review.grid.addEventListener("scroll", () => showMore(review.grid), { passive: true });
  review.grid.addEventListener("pointerleave", () => hideTooltip(stage));
  emptyReview(review);
  watchSight(review);
  return review;
}

export function clearReview(stage) {
  const { review } = stage;
  Object.assign(review, { drawn: "", wrong: null });
  stage.root.removeAttribute("data-spoiled");
  review.grid.replaceChildren();
  emptyReview(review);
  showReview(stage, false);
}

export function drawReview(stage) {
  const { review, view } = stage;
  const isLive = stage.mode === "live";
  if (!view || (isLive && stage.token === null) || (stage.presenting && !stage.reviewOpen)) return;
  const step = selectedStep(stage);
  const isWhole = Boolean(view.lane.end);
  const key = `${view.lane.index} ${step ? step.number : 0} ${stage.token} ${stage.round} ${isWhole}`;
  if (key === review.drawn) return;
  if (isPlaying(stage) || stage.scrubbing) {
    const now = performance.now();
    if (!review.inSight || now - review.drawnAt < (stage.reviewOpen ? PAUSE : BRIEF)) return;
    review.drawnAt = now;
  }
  review.drawn = key;
  review.box.dataset.empty = String(!step);
  if (!step) return emptyReview(review);
  if (review.step !== step || review.isWhole !== isWhole) buildReview(stage, step);
  if (review.score) drawRounds(stage);
  tellToken(stage);
  keepHeight(review);
}

// The review takes the place of the other lanes, or gives it back; a replay that plays is paused. At the end of a race, and
// of a replay that nobody asked for, the step with most to see is opened, and what was opened there leads back to the end. The
// same holds where this lane has ended and a slower one goes on.
export function openReview(stage, open = !stage.reviewOpen) {
  if (!stage.race.open || open === stage.reviewOpen || (open && !canOpen(stage))) return;
  const isUntouched = stage.root.hasAttribute("data-unasked");
  const isLast = stage.mode === "replay" && stage.time > stage.view.lane.steps.at(-1)?.until;
  const atEnd = isUntouched || ((stage.mode === "done" || isLast) && stage.token === null);
  if (open && isUntouched) showAll(stage);
  else if (open) pause(stage);
  touch(stage);
  showReview(stage, open);
  if (open) stage.review.fromEnd = atEnd;
  else if (stage.review.hasEntry) leave("review");
  if (!open) Object.assign(stage.review, { isLeft: stage.review.hasEntry, hasEntry: false });
  const isBlank = !selectedStep(stage);
  const telling = open && (atEnd || isBlank) && (findTelling(stage) || (isBlank && stage.view.lane.steps[0]));
  if (telling) jump(stage, telling.until);
  if (open) stage.review.chosen = telling || null;
  if (!open && stage.review.fromEnd) showAll(stage);
  forgetSizes(stage);
  stage.draw();
  if (stage.presenting) return;
  if (open) bringIntoView(stage);
  else showLanes(stage);
}

// The lanes are at the top of the page, or at least come into view.
export function showLanes({ root, headline }) {
  const top = root.getBoundingClientRect().top + scrollY;
  if (top < innerHeight / 2) scrollTo(0, 0);
  else headline.box.scrollIntoView({ block: "nearest" });
}

// A picture that is not in sight comes with as many whole parts above its review as the window has room for. What is below it may be
// out of sight: a page that moves by a little is worse.
function bringIntoView({ track, lanesBox, transport, review }) {
  const [{ top, bottom }, { bottom: end }, { top: begins }] = [review.box, review.grid, track.box].map((box) => box.getBoundingClientRect());
  const isCut = begins < 0 && end - begins <= innerHeight; // though there is room for all
  if (top >= 0 && end <= innerHeight && !isCut) return;
  const below = bottom - innerHeight;
  if (top >= 0 && below < LITTLE && begins >= below) return void scrollBy(0, below);
  const parts = [track.box, lanesBox, transport.box, review.box];
  const first = parts.find((part) => end - part.getBoundingClientRect().top <= innerHeight) || review.box;
  first.scrollIntoView({ block: "start" });
}

// A lane without steps has nothing inside. While a race runs, only the step of a token that was clicked can be opened.
export function canOpen({ mode, token, view }) {
  return Boolean(view?.lane.steps.length) && (mode !== "live" || token !== null);
}

// What the visitor opens, Back closes; a link and the tour open a review as a part of what they show.
export function toggleReview(stage) {
  openReview(stage);
  if (!stage.reviewOpen || stage.lasts) return;
  stage.review.hasEntry = true;
  enter("review");
}

// The same without drawing anew.
export function showReview(stage, open) {
  stage.reviewOpen = open;
  stage.root.toggleAttribute("data-opened", open);
}

function createRounds(stage) {
  const roundLabel = term("move", "");
  roundLabel.classList.add("cs-place");
  const roundTold = h("p", { class: "cs-round-told" });
  const watch = button("cs-button cs-unfold", "Watch it happen", { onclick: () => playRounds(stage) });
  const rounds = h("div", { class: "cs-rounds" },
    h("span", { class: "cs-stepper" },
      iconButton("previous", "Previous move", ",", () => stepRound(stage, -1)), roundLabel,
      iconButton("next", "Next move", ".", () => stepRound(stage, 1))),
    watch);
  return { roundLabel, roundTold, watch, rounds };
}

function watchSight(review) {
  if (typeof IntersectionObserver === "undefined") return;
  const seen = (entries) => {
    review.inSight = entries[entries.length - 1].isIntersecting;
  };
  new IntersectionObserver(seen, { rootMargin: "100px" }).observe(review.box);
}

// Shows the step as if the guess at this place, from 0 on, had been `word`, which is wrong; null takes that back.
export function spoilGuess(stage, place, word) {
  const { review, race } = stage;
  race.pieces.set(WRONG, word);
  stage.root.toggleAttribute("data-spoiled", place !== null); // what the lanes tell is another step
  Object.assign(review, { wrong: place, step: null, drawn: "" });
  stage.draw();
}

function emptyReview(review) {
  Object.assign(review, { step: null, score: null });
  review.box.dataset.empty = "true";
  put(review.which, "");
  put(review.what, "What happens in a step");
  put(review.told, "Choose a step or a word to see who guessed it and who checked it, level by level.");
}

function buildReview(stage, step) {
  const { review, race, view: { lane } } = stage;
  if (review.lane && lane.index !== review.lane.index) {
    review.height = 0;
    review.box.style.minHeight = "";
  }
  const shown = review.wrong === null ? step : spoilStep(step, review.wrong);
  const score = reviewScore(race, shown);
  const isWhole = Boolean(lane.end);
  Object.assign(review, { step, lane, isWhole, score: stage.reviewOpen ? score : null });
  const wrote = `${countTokens(step.line.x.length)} in ${formatSeconds(step.line.d)}`;
  const spent = score.boxes.reduce((total, box) => total + box.record.d, 0);
  review.title.title = `${formatSeconds(Math.max(0, step.line.d - spent))} of it between the runs of the models`;
  const telling = findTelling(stage);
  review.telling.hidden = !telling;
  review.why.hidden = step !== review.chosen || step.number === 1;
  put(review.telling, telling ? [`See step ${telling.number}`, tellShown(telling)].filter(Boolean).join(": ") : "");
  const isReal = shown === step;
  put(review.which, isReal ? `Step ${step.number}${isWhole ? ` of ${lane.steps.length}` : ""}, ${lane.info.method}: ` : "");
  put(review.what, isReal ? wrote : `If guess ${review.wrong + 1} were wrong: ${countTokens(shown.line.x.length)} instead of ${step.line.x.length}`);
  review.result = tellResult(race, step); // the picture tells who drafted
  review.rounds.hidden = score.boxes.length < 2;
  review.key.replaceChildren(...createKey(score));
  if (stage.reviewOpen) buildScore(review.grid, race, lane, score);
}

function drawRounds({ review, race, round, roundTimer, token }) {
  const { boxes } = review.score;
  const box = round === null ? null : boxes[round];
  review.grid.toggleAttribute("data-stepping", Boolean(box));
  drawScore(review.score, round, token === null ? null : race.open.start + token);
  review.rounds.toggleAttribute("data-stepping", Boolean(box)); // its arrows come with the first move
  put(review.roundLabel, box ? `move ${round + 1} of ${boxes.length}` : "");
  if (!review.told.hidden) review.roundTold.style.minHeight = `${review.told.offsetHeight}px`;
  put(review.roundTold, box ? tellRoundSentence(race, box.record) : "");
  review.told.hidden = Boolean(box); // the round's sentence takes its place
  put(review.watch, roundTimer ? "Stop" : "Watch it happen");
  if (box) scrollToBox(review.grid, box);
}

// Of a selected token, who wrote it and who checked it stands in place of the step's result.
function tellToken({ review, race, view: { lane }, token }) {
  const [[, said]] = token === null ? [["", review.result]] : tokenFacts(race, lane.tokens[token]);
  put(review.told, said);
}

function keepHeight(review) {
  const height = review.box.offsetHeight;
  if (height <= review.height) return;
  review.height = height;
  review.box.style.minHeight = `${height}px`;
}

function showCellTooltip(stage, node) {
  if (!node) return hideTooltip(stage);
  const { race, review } = stage;
  const facts = cellFacts(race, review.step, review.score.boxes[Number(node.dataset.order)], Number(node.dataset.j));
  showTooltip(stage, facts, node.getBoundingClientRect());
}
