// The charts of a race, one at a time: how fast each lane wrote, who computed when, and where the time went. On a phone
// they are folded away at first.

import { button, h } from "./dom.js";
import { drawPlot } from "./plot.js";
import { isPlaying, remember, remembered } from "./state.js";
import { drawTimeline } from "./timeline.js";

const NARROW = "(max-width: 700px)"; // as in style/windows.css, where the summary is in view
const NAMES = { speed: "Speed", computed: "Who computed when", time: "Where the time went" };
const CHARTS = Object.keys(NAMES);

export function createCharts(stage, boxes) {
  const buttons = CHARTS.map((name) => button("cs-button", NAMES[name], { "data-chart": name, onclick: () => chooseChart(stage, name) }));
  const choice = h("div", { class: "cs-choice", role: "group", "aria-label": "Chart of the race" }, ...buttons);
  const box = h("details", { class: "cs-after" }, h("summary", { text: "Charts" }), choice, ...CHARTS.map((name) => boxes[name]));
  const narrow = matchMedia(NARROW);
  const fold = () => { box.open = !narrow.matches; };
  narrow.addEventListener("change", () => {
    fold();
    restoreChart(stage);
  });
  box.addEventListener("toggle", () => measureAnew(stage));
  fold();
  const charts = { boxes, buttons, box, narrow, isInView: true };
  new IntersectionObserver((entries) => { charts.isInView = entries.at(-1).isIntersecting; }).observe(box);
  return charts;
}

// While a race runs or is replayed, charts out of view are left as they are.
export function drawCharts(stage) {
  if ((isPlaying(stage) || stage.mode === "live") && !stage.charts.isInView) return;
  drawPlot(stage);
  drawTimeline(stage);
}

export function restoreChart(stage) {
  showChart(stage, remembered("cascade-chart", CHARTS));
}

function chooseChart(stage, name) {
  remember("cascade-chart", name);
  showChart(stage, name);
  measureAnew(stage);
}

// On a phone the runs of a timeline would be narrower than a pixel.
function showChart({ charts: { boxes, buttons, narrow } }, wanted) {
  const chosen = narrow.matches && wanted === "computed" ? CHARTS[0] : wanted;
  for (const name of CHARTS) boxes[name].hidden = name !== chosen;
  for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.chart === chosen));
}

// What was hidden had no size.
function measureAnew(stage) {
  stage.plot.width = stage.timeline.width = 0;
  if (stage.race.open) stage.draw();
}
