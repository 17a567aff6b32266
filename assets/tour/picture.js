// The picture of an act, on a stage of the dialog's own. It moves once, when the act is opened: its lanes, or the rounds of
// its review. Then it rests, until Replay runs its lanes in slow motion and moves it again.

import { actOf, isAnswered, isTalk, questionOf, triedOf } from "./visit.js";

const SECONDS = 5; // that the lanes of an act run
const TOLD = 3000; // milliseconds for the rounds of a step on a slide of a talk
const READ = 1200; // milliseconds for the words of an act before its picture moves
const BEGUN = 0.25; // of the race: an act that is all motion begins with something to see

export function mountPicture(visit) {
  visit.stage = CascadeStage.mount(visit.place, { lasts: SECONDS });
  new MutationObserver(() => rest(visit)).observe(visit.place, { attributeFilter: ["data-state"] });
  new ResizeObserver(() => { if (isAnswered(visit)) showAnswer(visit); }).observe(visit.place); // a picture may grow when it has been drawn
}

export function draw(visit, race, log) {
  const { stage, place } = visit;
  stage.update({ race, log });
  for (const text of place.querySelectorAll(".cs-text")) text.dataset.prompt = stage.race.open.prompt;
  const runs = (actOf(visit).dataset.drafting || "").split(",").filter(Boolean);
  runs.forEach((count, lane) => tellDrafting(place.querySelectorAll(".cs-track-row")[lane], count));
}

// What the act saves, where it is not runs of the big model.
function tellDrafting(row, count) {
  const said = row.querySelector(".cs-name small");
  said.classList.add("tour-drafting");
  said.textContent = `small model: ${count} runs`;
}

// Once the words of the act have been read, in the acts that are about the lanes.
export function begin(visit) {
  const { show } = actOf(visit).dataset;
  if (show !== "text" && (show !== "result" || !moves())) return;
  if (!moves()) return void run(visit, BEGUN);
  visit.stage.seek(timeOf(visit, BEGUN));
  visit.moving = setTimeout(run, READ, visit, BEGUN);
}

// From a part of the race on.
export function run(visit, from) {
  halt(visit);
  visit.stage.play(timeOf(visit, from));
}

export function halt({ moving }) {
  clearTimeout(moving);
}

export function finish(visit) {
  halt(visit);
  visit.stage.skip();
  rest(visit);
}

// The time of a part of the race; the prompt has been read by all lanes.
function timeOf({ stage }, part) {
  const { lanes } = stage.race;
  const start = Math.min(...lanes.map(({ steps: [first] }) => first.line.c));
  return start + part * (Math.max(...lanes.map((lane) => lane.clock)) - start);
}

// The lanes are at their end: the review of the last one opens, and its rounds come one by one.
function rest(visit) {
  const { stage, place, dialog, isMoved } = visit;
  const { show, lanes, step } = actOf(visit).dataset;
  if (show !== "review" || place.dataset.state !== "done") return;
  if (!isMoved) dialog.dataset.levels = String(stage.race.lanes[lanes - 1].marks.size); // a picture of few rows is larger
  inspect(visit, step);
  if (moves() && !isMoved) stage.watch(isTalk(visit) ? 0 : READ, isTalk(visit) ? TOLD : undefined);
}

// The review of a step of the last lane, and the button of its block.
export function inspect(visit, step) {
  const { dialog, stage } = visit;
  const top = dialog.scrollTop;
  stage.open(Number(actOf(visit).dataset.lanes), Number(step));
  dialog.scrollTop = top; // what is opened scrolls into view
  if (isAnswered(visit)) showAnswer(visit);
  const block = triedOf(visit).querySelector(`[data-step="${step}"]`);
  if (block) press(visit, block);
}

// On a phone it may be below the window.
export function showAnswer(visit) {
  questionOf(visit).querySelector(".tour-answer")?.scrollIntoView({ block: "nearest" });
}

// Which of the things to try the picture shows.
export function press(visit, button) {
  for (const one of triedOf(visit).querySelectorAll("button")) one.setAttribute("aria-pressed", String(one === button));
  if (button?.dataset.told) actOf(visit).querySelector(".tour-moved").textContent = button.dataset.told;
}

function moves() {
  return !matchMedia("(prefers-reduced-motion: reduce)").matches;
}
