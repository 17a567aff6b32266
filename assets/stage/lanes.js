// The lanes: name, text and verdict of each; the text in the middle is made by lanetext.js.

import { copyText } from "./clipboard.js";
import { button, h, put } from "./dom.js";
import { countTokens, formatPercent } from "./format.js";
import { answerOf, createLaneText, listenToText, markGuesses } from "./lanetext.js";
import { laneKey } from "./linestyle.js";
import { isPlain, laneOfHeadline, levelOf, titleOf } from "./log.js";
import { guessesOf, readableGuesses, timeOf } from "./opening.js";
import { NONE, pendingGuesses } from "./pending.js";
import { selectLane } from "./playback.js";
import { term } from "./terms.js";
import { drawWrongWords } from "./wrongwords.js";

const BADGE_TERMS = { lossy: "not lossless", law: "same distribution" }; // in the glossary, by the kind of a badge

export function createLanesBox() {
  return h("div", { class: "cs-lanes" });
}

export function openLanes(stage) {
  stage.views = stage.race.lanes.map((lane) => createLaneView(stage, lane));
  stage.view = stage.views[stage.lasts ? stage.views.length - 1 : laneOfHeadline(stage.race)];
  stage.lanesBox.style.setProperty("--cs-lanes", stage.views.length);
  stage.lanesBox.replaceChildren(...stage.views.map((view) => view.box));
}

// Draws all lanes as of the time shown; what does not change is not touched.
export function drawLanes(stage) {
  for (const view of stage.views) {
    const time = timeOf(stage, view);
    view.shown = shownSteps(view, time);
    if (stage.mode === "replay") revealSteps(view);
    view.guesses = stage.mode === "replay" ? readableGuesses(stage, view, pendingGuesses(view.lane, view.shown, time)) : NONE;
    markGuesses(view, guessesOf(stage, view).sure);
    drawState(view, time);
    view.box.classList.toggle("cs-selected", view === stage.view);
  }
  if (stage.view) drawWrongWords(stage);
  if (stage.view && !stage.view.shown) stage.view.text.dataset.reading = tellReading(stage);
}

// What goes on while the selected lane has no text yet.
function tellReading({ race, views, view }) {
  if (!views.some(({ state }) => state === "reading")) return view.state === "waiting" ? "waiting for its turn" : "";
  const all = race.open.start;
  const reads = views.length > 1 ? `${views.length} lanes read the prompt` : "reading the prompt";
  const read = views.reduce((sum, { lane }) => sum + countRead(race, lane), 0);
  const whole = views.length * all;
  if (!read || read >= whole) return `${reads}: ${countTokens(all)}`;
  const spent = views.reduce((sum, { lane }) => sum + lane.prefillSeconds, 0);
  const left = (spent / read) * (whole - read);
  const wait = left < 1.5 ? "" : `, about ${Math.round(left)} s more`;
  return `${reads}: ${views.length > 1 ? `${countTokens(all)}, ${formatPercent(read, whole)} done` : `${read} of ${countTokens(all)}`}${wait}`;
}

// Tokens of the prompt that the big model has read, part by part.
function countRead(race, { prefill }) {
  const parts = prefill.filter(({ by }) => levelOf(race, by).mark === "T");
  return parts.reduce((sum, { n }) => sum + n, 0);
}

export function showVerdicts(stage) {
  stage.views.forEach((view, i) => {
    const verdict = stage.race.close.lanes[i] || {};
    view.badge.replaceChildren(term(BADGE_TERMS[verdict.kind], verdict.badge || ""));
    view.badge.dataset.kind = verdict.kind || "none";
    put(view.speed, verdict.speed || "");
    view.remarks.replaceChildren(...(verdict.notes || []).map((text) => h("p", { text })));
  });
}

function createLaneView(stage, lane) {
  const view = {
    lane,
    shown: 0, // steps of the lane up to the time shown
    revealed: 0, // steps that carry the class cs-on
    rate: 0, // tokens per second up to the time shown
    seconds: 0, // of the lane's clock up to the time shown
    state: "waiting", // or "reading" the prompt, "guessing" the first block, "writing", "done", "stopped"
    cursor: null, // over the text, see cursors.js
    guesses: NONE, // that wait for the target's check, see pending.js
    ...createLaneText(stage, lane),
    stateNode: h("span", { class: "cs-state", text: "waiting" }),
    badge: h("p", { class: "cs-badge" }),
    speed: h("p", { class: "cs-speed" }),
    remarks: h("div", { class: "cs-remarks" }),
  };
  const { method, label } = lane.info;
  const name = label ? `${method}, ${label}` : method;
  const spoken = `Lane ${lane.index + 1}: ${name}`;
  view.box = h("section", { class: "cs-lane", "aria-label": spoken, "data-lane": lane.index,
                              "data-plain": isPlain(lane) },
    createHead(stage, view, name), view.text,
    h("footer", { class: "cs-foot" }, view.badge, view.speed, view.remarks));
  listenToText(stage, view);
  return view;
}

function createHead(stage, view, name) {
  const { info } = view.lane;
  const select = h("button", { type: "button", class: "cs-name", onclick: () => selectLane(stage, view),
                               title: `${name}. Select this lane (stepping and levels follow it).` },
    laneKey(info), h("b", { text: titleOf(view.lane) }));
  return h("header", { class: "cs-head" }, select, view.stateNode, createCopyButton(stage, view));
}

function createCopyButton(stage, view) {
  const { method } = view.lane.info;
  const label = "copy";
  const copy = button("cs-button cs-copy", label, {
    title: "Copy the plain text of this lane", "aria-label": `copy text of lane ${method}`,
  });
  copy.addEventListener("click", async () => {
    put(copy, (await copyText(answerOf(view), stage.root)) ? "copied" : "copy failed");
    setTimeout(() => put(copy, label), 1500);
  });
  return copy;
}

function shownSteps({ lane, shown }, time) {
  const { steps } = lane;
  if (time === Infinity) return steps.length;
  let n = Math.min(shown, steps.length);
  while (n < steps.length && steps[n].until <= time) n++;
  while (n > 0 && steps[n - 1].until > time) n--;
  return n;
}

function revealSteps(view) {
  for (; view.revealed < view.shown; view.revealed++) view.stepNodes[view.revealed].classList.add("cs-on");
  for (; view.revealed > view.shown; view.revealed--) view.stepNodes[view.revealed - 1].classList.remove("cs-on");
}

function drawState(view, time) {
  const { lane, shown } = view;
  const step = lane.steps[shown - 1];
  view.rate = step && step.decodeSeconds ? step.count / step.decodeSeconds : 0;
  view.seconds = Math.min(time, lane.clock);
  view.state = laneState(lane, shown, time);
  put(view.stateNode, view.state);
  view.box.dataset.laneState = view.state;
  view.stateNode.dataset.name = view.state;
}

function laneState(lane, shown, time) {
  const isOver = lane.end && shown === lane.steps.length && time >= lane.clock;
  if (isOver) return lane.end === "stopped" ? "stopped" : "done";
  if (shown) return "writing";
  const now = Math.min(time, lane.clock);
  const [first] = lane.steps;
  if (first && now >= first.line.c) return (first.line.r.in || []).length ? "guessing" : "writing";
  return lane.prefill.length && now ? "reading" : "waiting";
}
