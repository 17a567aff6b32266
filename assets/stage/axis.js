// What the bars of the track run over: tokens, towards the finish. The visitor can choose time instead: each part is then as
// long as its level took.

import { button, h, put } from "./dom.js";

const AXES = ["tokens", "time"];

export function createAxis(stage) {
  const choices = AXES.map((value) => button("cs-button", value, {
    "data-value": value, title: `Bars over ${value} (t)`, onclick: () => chooseAxis(stage, value),
  }));
  const choice = h("span", { class: "cs-choice", role: "group", "aria-label": "Bars run over" }, ...choices);
  const other = button("cs-link cs-axis-other", "", { title: "What a bar's length stands for (t)", onclick: () => toggleAxis(stage) });
  return { choices, other, chosen: AXES[0], box: h("p", { class: "cs-choice-name" }, h("span", { text: "bars over" }), choice) };
}

export function toggleAxis(stage) {
  if (isComparable(stage)) chooseAxis(stage, shownAxis(stage) === "time" ? "tokens" : "time");
}

export function shownAxis(stage) {
  return isComparable(stage) ? stage.axis.chosen : AXES[0];
}

export function drawAxis(stage) {
  const axis = shownAxis(stage);
  stage.axis.box.hidden = stage.axis.other.hidden = !isComparable(stage);
  put(stage.axis.other, axis === "time" ? "Show tokens" : "Show times");
  for (const one of stage.axis.choices) one.setAttribute("aria-pressed", String(one.dataset.value === axis));
  stage.track.box.dataset.axis = axis;
  return axis;
}

// Times tell which lane is faster only of lanes that wrote equally many tokens.
function isComparable({ race }) {
  const [first, ...others] = race.lanes;
  return Boolean(race.close && others.length) && others.every((lane) => lane.tokens.length === first.tokens.length);
}

function chooseAxis(stage, value) {
  stage.axis.chosen = value;
  stage.draw();
}
