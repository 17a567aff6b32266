// The bar above the lanes: the levels with their share of the selected lane, and which rejected tokens are shown.

import { button, h, put } from "./dom.js";
import { formatPercent } from "./format.js";
import { followText } from "./lanetext.js";
import { levelMarks } from "./log.js";
import { remember, remembered } from "./state.js";

const REJECTED = [["target", "by target"], ["all", "all"], ["hidden", "hidden"]];
const CHOICES = REJECTED.map(([value]) => value);

export function createLegend(stage) {
  const legend = {
    list: h("ul", { class: "cs-legend", "aria-label": "Levels" }),
    caption: h("span", { class: "cs-legend-of" }),
    counts: new Map(), // nodes by mark
    drawn: "", // lane and step that are shown
    choices: REJECTED.map(([value, label]) =>
      button("cs-button", label, { "data-value": value, onclick: () => chooseRejected(stage, value) })),
  };
  const choice = h("span", { class: "cs-choice", role: "group", "aria-label": "Show rejected tokens" },
    h("span", { class: "cs-choice-name", text: "rejected" }), ...legend.choices);
  legend.box = h("div", { class: "cs-bar" }, legend.caption, legend.list, choice);
  return legend;
}

export function openLegend(stage) {
  const { legend, race } = stage;
  legend.counts.clear();
  legend.list.replaceChildren(...levelMarks(race).map((entry) => h("li", {}, createEntry(stage, entry))));
}

export function clearLegend({ legend }) {
  legend.drawn = "";
  legend.list.replaceChildren();
  put(legend.caption, "");
}

export function drawLegend({ legend, view, views }) {
  if (!view) return;
  const { lane, shown } = view;
  const key = `${lane.index} ${shown}`;
  if (key === legend.drawn) return;
  legend.drawn = key;
  const step = lane.steps[shown - 1];
  put(legend.caption, views.length > 1 ? `share in ${lane.info.method}` : "share");
  for (const [mark, node] of legend.counts) {
    const count = step ? step.marks[mark] || 0 : 0;
    put(node, step ? `${count} \u00B7 ${formatPercent(count, step.count)}` : "0");
  }
  for (const one of views) one.box.classList.toggle("cs-counted", one === view && views.length > 1);
}

export function restoreRejected(stage) {
  chooseRejected(stage, remembered("cascade-rejected", CHOICES));
}

export function cycleRejected(stage) {
  chooseRejected(stage, CHOICES[(CHOICES.indexOf(stage.root.dataset.rejected) + 1) % CHOICES.length]);
}

function chooseRejected(stage, value) {
  stage.root.dataset.rejected = value;
  remember("cascade-rejected", value);
  for (const one of stage.legend.choices) one.setAttribute("aria-pressed", String(one.dataset.value === value));
  for (const view of stage.views) view.bottoms = null;
  followText(stage);
}

function createEntry(stage, { mark, look, labels }) {
  const target = "The target's own tokens: T for a correction or a token without a draft, + for a bonus token";
  const title = mark === "T" ? target : labels.join(" and ");
  const count = h("span", { class: "cs-legend-count" });
  stage.legend.counts.set(mark, count);
  return h("button", { type: "button", class: "cs-legend-item", "aria-pressed": "false", "data-level": mark,
                       title: `${title}. Click to highlight these tokens.`, onclick: () => highlight(stage, mark) },
    h("span", { class: "cs-swatch", "data-look": look, text: mark }),
    h("span", { class: "cs-legend-name", text: labels.join(" / ") }), count);
}

// Dims the tokens of all other levels, or brings them back.
function highlight({ root, legend }, mark) {
  root.dataset.solo = root.dataset.solo === mark ? "" : mark;
  for (const entry of legend.list.querySelectorAll("button")) {
    entry.setAttribute("aria-pressed", String(entry.dataset.level === root.dataset.solo));
  }
}
