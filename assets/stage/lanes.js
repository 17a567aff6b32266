// The lanes: name, numbers and verdict of each; the text in the middle is made by lanetext.js.

import { button, h, put } from "./dom.js";
import { formatRate, formatSeconds } from "./format.js";
import { answerOf, copyText, createLaneText, listenToText } from "./lanetext.js";
import { laneKey } from "./linestyle.js";
import { levelMarks } from "./log.js";
import { selectLane } from "./playback.js";

const NONE = "\u2013";

export function createLanesBox() {
  return h("div", { class: "cs-lanes" });
}

export function openLanes(stage) {
  stage.views = stage.race.lanes.map((lane) => createLaneView(stage, lane));
  stage.view = stage.views[stage.views.length - 1];
  stage.lanesBox.style.setProperty("--cs-lanes", stage.views.length);
  stage.lanesBox.replaceChildren(...stage.views.map((view) => view.box));
}

// Draws all lanes as of the time shown; what does not change is not touched.
export function drawLanes(stage) {
  for (const view of stage.views) {
    view.shown = shownSteps(view, stage.time);
    if (stage.mode === "replay") revealSteps(view);
    drawNumbers(view, stage.time);
  }
  drawRatios(stage.views);
}

export function showVerdicts(stage) {
  stage.views.forEach((view, i) => {
    const verdict = stage.race.close.lanes[i] || {};
    put(view.badge, verdict.badge || "");
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
    ...createLaneText(stage, lane),
    ...createNumbers(stage.race),
    state: h("span", { class: "cs-state", text: "waiting" }),
    badge: h("p", { class: "cs-badge" }),
    speed: h("p", { class: "cs-speed" }),
    remarks: h("div", { class: "cs-remarks" }),
  };
  const { method, label } = lane.info;
  const name = label ? `${method}, ${label}` : method;
  const spoken = `Lane ${lane.index + 1}: ${name}`;
  view.box = h("section", { class: "cs-lane", "aria-label": spoken, "data-lane": lane.index },
    createHead(stage, view, name), view.text,
    h("footer", { class: "cs-foot" }, view.badge, view.speed, view.remarks));
  listenToText(stage, view);
  return view;
}

function createHead(stage, view, name) {
  const { info, index } = view.lane;
  const select = h("button", { type: "button", class: "cs-name", onclick: () => selectLane(stage, view),
                               title: "Select this lane (stepping and legend follow it)" },
    laneKey(index), h("span", { text: info.method }));
  return h("header", { class: "cs-head" },
    h("div", { class: "cs-title" }, select, view.state),
    h("div", { class: "cs-sub" },
      h("span", { class: "cs-settings", text: info.label || "target only", title: name }),
      createCopyButton(stage, view)),
    h("div", { class: "cs-numbers" },
      h("span", { class: "cs-big" }, view.rateNode, h("span", { class: "cs-unit", text: " tok/s" }), view.ratio),
      h("span", { class: "cs-facts" }, fact(view.clock, "lane time"), fact(view.count, "tokens"),
        fact(view.mat, "MAT", "Tokens per target pass (MAT), the target's own token included"))),
    view.mix);
}

function fact(value, label, title) {
  return h("span", { class: "cs-fact", title }, value, ` ${label}`);
}

function createNumbers(race) {
  const value = (className) => h("b", { class: className, text: NONE });
  const bar = (look) => h("span", { class: "cs-mix-part", "data-look": look });
  const shares = levelMarks(race).map(({ mark, look }) => [mark, bar(look)]);
  return {
    rateNode: value("cs-rate"),
    ratio: h("span", { class: "cs-ratio" }),
    clock: value(),
    count: value(),
    mat: value(),
    mix: h("div", { class: "cs-mix", "aria-hidden": "true" }, ...shares.map(([, node]) => node)),
    shares: new Map(shares), // bars of the mix, by mark
  };
}

function createCopyButton(stage, view) {
  const { method } = view.lane.info;
  const label = "copy text";
  const copy = button("cs-button cs-copy", label, {
    title: "Copy the plain text of this lane", "aria-label": `copy text of lane ${method}`,
  });
  copy.addEventListener("click", async () => {
    put(copy, (await copyText(stage, answerOf(view))) ? "copied" : "copy failed");
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

function drawNumbers(view, time) {
  const { lane, shown } = view;
  const step = lane.steps[shown - 1];
  const count = step ? step.count : 0;
  const clock = Math.min(time, lane.clock);
  view.rate = step && step.decodeSeconds ? count / step.decodeSeconds : 0;
  put(view.rateNode, view.rate ? formatRate(view.rate) : NONE);
  put(view.count, String(count));
  put(view.clock, clock ? formatSeconds(clock) : NONE);
  put(view.mat, step ? (count / shown).toFixed(2) : NONE);
  const state = laneState(lane, shown, time);
  put(view.state, state);
  view.box.dataset.laneState = state;
  view.state.dataset.name = state;
  for (const [mark, bar] of view.shares) {
    const share = count ? (step.marks[mark] || 0) / count : 0;
    const width = `${(share * 100).toFixed(1)}%`;
    if (bar.style.width !== width) bar.style.width = width;
  }
}

function laneState(lane, shown, time) {
  const isOver = lane.end && shown === lane.steps.length && time >= lane.clock;
  if (isOver) return lane.end === "stopped" ? "stopped" : "done";
  if (shown) return "decoding";
  return lane.prefill.length && Math.min(time, lane.clock) ? "prefill" : "waiting";
}

function drawRatios(views) {
  const reference = views.find((view) => view.lane.info.method === "autoregressive");
  for (const view of views) {
    const isKnown = reference && reference.rate && view.rate;
    put(view.ratio, isKnown ? `\u00D7${(view.rate / reference.rate).toFixed(2)}` : "");
  }
}
