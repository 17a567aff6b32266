// What the bars of the track run over. While a race runs, over tokens, towards the finish; when it has ended, over time: all
// lanes have written the text, and their lengths tell how long it took.

import { button, h } from "./dom.js";

const AXES = ["tokens", "time"];

export function createAxis(stage) {
  const choices = AXES.map((value) => button("cs-button", value, {
    "data-value": value, title: `Bars over ${value} (t)`, onclick: () => chooseAxis(stage, value),
  }));
  const choice = h("span", { class: "cs-choice", role: "group", "aria-label": "Bars run over" }, ...choices);
  return { choices, chosen: "", box: h("p", { class: "cs-choice-name" }, h("span", { text: "bars over" }), choice) };
}

export function toggleAxis(stage) {
  if (isComparable(stage)) chooseAxis(stage, shownAxis(stage) === "time" ? "tokens" : "time");
}

// "tokens" or "time": as the visitor chose, else the one that suits the moment.
export function shownAxis(stage) {
  if (!isComparable(stage)) return "tokens";
  return stage.axis.chosen || (stage.mode === "done" ? "time" : "tokens");
}

export function drawAxis(stage) {
  const axis = shownAxis(stage);
  stage.axis.box.hidden = !isComparable(stage);
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
