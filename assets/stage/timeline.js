// The timeline: which level computed when. A strip per lane, all on one time axis; the strips are drawn by strips.js.

import { button, h, s } from "./dom.js";
import { titleOf } from "./log.js";
import { scrub } from "./playback.js";
import { sayReview } from "./speech.js";
import { canReplay, shownTime, totalTime } from "./state.js";
import { drawAxis, drawCursor, drawStrip, showTimeTooltip, timeAt } from "./strips.js";
import { term } from "./terms.js";
import { WHOLE, followView, panView, roundUp, zoomView } from "./timescale.js";
import { hideTooltip } from "./tooltip.js";

const PAUSE = 500; // milliseconds between two drawings while the race runs
const WHEEL = 1.0015; // zoom per pixel of the wheel

export function createTimeline(stage) {
  const timeline = {
    tracks: h("div", { class: "cs-tracks" }),
    cursor: h("div", { class: "cs-cursor", "aria-hidden": "true" }),
    axis: s("svg", { class: "cs-axis", "aria-hidden": "true" }),
    range: h("span", { class: "cs-zoom-label" }),
    strips: [], // {view, svg, marks, label} per lane
    part: WHOLE, // of the time axis that is shown, see timescale.js
    end: 1, // seconds at the right edge
    width: 0, // of a strip, in pixels; 0 until measured
    left: 0, // of the strips inside the tracks
    drawn: "", // what the strips show
    drawnAt: 0,
  };
  const zoomButton = (text, label, by) =>
    button("cs-button cs-zoom", text, { "aria-label": label, title: label, onclick: () => zoom(stage, by) });
  const label = "Timeline. The table below has the same in figures.";
  timeline.box = h("section", { class: "cs-timeline", "aria-label": label },
    h("p", { class: "cs-timehead" },
      h("span", {}, "A row for each model, the big one on top. Pale = ", term("prefill", "reading the prompt"), ", thin grey = ", term("overhead"),
        ". Drag to scrub."),
      h("span", { class: "cs-zoomers" }, timeline.range, zoomButton("\u2212", "Zoom out", 2),
        zoomButton("+", "Zoom in", 0.5), zoomButton("all", "Show the whole race", Infinity))),
    timeline.tracks);
  listenToTracks(stage, timeline.tracks);
  return timeline;
}

export function openTimeline(stage) {
  const { timeline } = stage;
  timeline.strips = stage.views.map((view) => createStrip(stage, view));
  timeline.tracks.replaceChildren(...timeline.strips.flatMap((strip) => [strip.label, strip.svg]),
    h("span", { class: "cs-strip-label" }), timeline.axis, timeline.cursor);
}

export function clearTimeline({ timeline }) {
  Object.assign(timeline, { part: WHOLE, width: 0, drawn: "", drawnAt: 0, strips: [] });
  timeline.tracks.replaceChildren();
}

export function drawTimeline(stage) {
  const { timeline } = stage;
  const tooSoon = stage.mode === "live" && timeline.width && performance.now() - timeline.drawnAt < PAUSE;
  if (!timeline.strips.length || timeline.box.hidden || tooSoon) return;
  timeline.part = followView(timeline.part, totalTime(stage), shownTime(stage));
  drawPart(stage);
}

// Shows `by` times as much of the time axis, around a time or else around the cursor.
export function zoom(stage, by, centre) {
  if (!canReplay(stage)) return;
  const { part, end } = stage.timeline;
  const now = shownTime(stage);
  const middle = now >= part.from && now <= end ? now : (part.from + end) / 2;
  stage.timeline.part = zoomView(part, totalTime(stage), by, centre === undefined ? middle : centre);
  drawPart(stage);
}

function pan(stage, by) {
  stage.timeline.part = panView(stage.timeline.part, totalTime(stage), by);
  drawPart(stage);
}

function drawPart(stage) {
  const { timeline, race, views } = stage;
  const total = Math.max(totalTime(stage), 1e-3);
  const end = timeline.part.to || (race.close ? total : roundUp(total));
  const steps = stage.mode === "live" ? views.map((view) => view.lane.steps.length) : "";
  const key = `${timeline.part.from} ${end} ${steps}`;
  if (!timeline.width || key !== timeline.drawn) {
    if (!timeline.width) measure(timeline);
    Object.assign(timeline, { end, drawn: key, drawnAt: performance.now() });
    for (const strip of timeline.strips) drawStrip(stage, strip);
    drawAxis(timeline);
  }
  drawCursor(stage);
}

function measure(timeline) {
  const { svg } = timeline.strips[0];
  timeline.width = svg.clientWidth || 600;
  timeline.left = svg.getBoundingClientRect().left - timeline.tracks.getBoundingClientRect().left;
}

function createStrip(stage, view) {
  const svg = s("svg", { class: "cs-strip", "aria-hidden": "true" });
  const marks = h("span", { class: "cs-strip-marks", "aria-hidden": "true" });
  const label = h("div", { class: "cs-strip-label" }, h("span", { text: titleOf(view.lane) }), marks);
  svg.addEventListener("pointermove", (event) => showTimeTooltip(stage, view, event));
  svg.addEventListener("pointerleave", () => hideTooltip(stage));
  return { view, svg, marks, label };
}

function listenToTracks(stage, tracks) {
  tracks.addEventListener("pointerdown", (event) => {
    const time = timeAt(stage.timeline, event);
    if (!canReplay(stage) || event.button || time < stage.timeline.part.from) return;
    tracks.setPointerCapture(event.pointerId);
    stage.root.focus({ preventScroll: true });
    event.preventDefault();
    scrub(stage, time);
  });
  tracks.addEventListener("pointermove", (event) => {
    if (tracks.hasPointerCapture(event.pointerId)) scrub(stage, timeAt(stage.timeline, event));
  });
  tracks.addEventListener("pointerup", () => {
    stage.draw();
    sayReview(stage);
  });
  tracks.addEventListener("wheel", (event) => turnWheel(stage, event), { passive: false });
}

// The wheel zooms once the stage has the focus, or with Ctrl; before that it scrolls the page as everywhere.
function turnWheel(stage, event) {
  const isMeant = event.ctrlKey || event.metaKey || stage.root.contains(document.activeElement);
  if (!canReplay(stage) || !isMeant) return;
  event.preventDefault();
  const { deltaX, deltaY } = event;
  if (Math.abs(deltaX) > Math.abs(deltaY) || event.shiftKey) pan(stage, (deltaX || deltaY) / stage.timeline.width);
  else zoom(stage, WHEEL ** deltaY, timeAt(stage.timeline, event));
}
