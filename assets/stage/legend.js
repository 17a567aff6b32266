// The bar over the text: the levels with their share of the selected lane. Its choices stand in the view menu: whether
// tokens carry their level as a digit, and which rejected tokens are shown.

import { button, h, put } from "./dom.js";
import { percentages } from "./format.js";
import { laneKey } from "./linestyle.js";
import { levelMarks, levelsOfLane } from "./log.js";
import { remember, remembered } from "./state.js";
import { term } from "./terms.js";

const REJECTED = [["hidden", "hidden"], ["count", "counted"], ["target", "by the big model"], ["all", "by any model"]];
const CHOICES = REJECTED.map(([value]) => value);
const DIGITS = ["off", "on"];

export function createLegend(stage) {
  const legend = {
    list: h("ul", { class: "cs-legend", "aria-label": "Levels" }),
    caption: h("span", { class: "cs-legend-of" }), // who wrote what share of whose text
    counts: new Map(), // nodes by mark
    lane: null, // that is shown
    drawn: "", // its index and the step that is shown
    key: h("span", { class: "cs-rejected-key" }, h("b", { text: "\u22122" }), " = 2 tokens ", term("rejected")), // where they are counted
    cursors: h("span", { class: "cs-cursor-key" }),
    words: h("span", { class: "cs-word-key", text: "Click a word to see who wrote it." }), // once the text is there
    rejected: createRejectedChoice(stage),
    digits: button("cs-button", "also as digits", {
      title: "Show the level of every token as a digit and a pattern (d)", onclick: () => toggleDigits(stage),
    }),
  };
  legend.rows = [
    h("p", { class: "cs-choice-name" }, h("span", {}, term("rejected", "rejected guesses")), legend.rejected),
    h("p", { class: "cs-choice-name" }, h("span", { text: "who wrote it" }), legend.digits),
  ];
  legend.box = h("div", { class: "cs-bar" }, legend.caption, legend.list, legend.key, legend.cursors, legend.words);
  return legend;
}

export function openLegend(stage) {
  const { legend, race } = stage;
  legend.counts.clear();
  legend.cursors.replaceChildren(...race.lanes.map(({ info }) => laneKey(info)), "= where each lane is in the text");
  legend.list.replaceChildren(...levelMarks(race).reverse().map((entry) => h("li", {}, createEntry(stage, entry))));
}

export function clearLegend({ legend }) {
  Object.assign(legend, { lane: null, drawn: "" });
  legend.list.replaceChildren();
  legend.caption.replaceChildren();
}

export function drawLegend({ legend, view, views, race, mode }) {
  if (!view) return;
  const { lane, shown } = view;
  const key = `${mode} ${lane.index} ${shown}`;
  if (key === legend.drawn) return;
  if (lane !== legend.lane) legend.caption.replaceChildren("Who wrote the text in ", term(lane.info.method));
  Object.assign(legend, { lane, drawn: key });
  const step = lane.steps[shown - 1];
  const counts = [...legend.counts.keys()].map((mark) => step?.marks[mark] || 0);
  const percents = percentages(counts);
  const part = new Set(views.flatMap((one) => levelsOfLane(race, one.lane)).map(({ mark }) => mark)); // every lane shows its colours
  for (const [i, [mark, node]] of [...legend.counts.entries()].entries()) {
    const count = counts[i];
    put(node, step ? `${percents[i]}%` : "");
    const item = node.closest("li");
    item.toggleAttribute("data-none", shown === lane.steps.length && !count); // it wrote nothing of this text
    item.hidden = mode !== "live" && !part.has(mark); // the models are not seen to come one after another
  }
}

export function restoreChoices(stage) {
  chooseRejected(stage, remembered("cascade-rejected", CHOICES));
  showDigits(stage, remembered("cascade-digits", DIGITS) === "on");
}

export function toggleDigits(stage) {
  showDigits(stage, !stage.root.hasAttribute("data-digits"));
}

export function cycleRejected(stage) {
  chooseRejected(stage, CHOICES[(CHOICES.indexOf(stage.root.dataset.rejected) + 1) % CHOICES.length]);
}

function chooseRejected(stage, value) {
  stage.root.dataset.rejected = value;
  remember("cascade-rejected", value);
  stage.legend.rejected.value = value;
  for (const view of stage.views) view.bottoms = view.ends = null;
  if (stage.race.open) stage.draw();
}

function createRejectedChoice(stage) {
  const options = REJECTED.map(([value, text]) => h("option", { value, text }));
  const box = h("select", { class: "cs-select", "aria-label": "Rejected words", title: "Which rejected tokens are shown (h)", onchange: () => chooseRejected(stage, box.value) }, ...options);
  return box;
}

function showDigits(stage, on) {
  stage.root.toggleAttribute("data-digits", on);
  stage.legend.digits.setAttribute("aria-pressed", String(on));
  remember("cascade-digits", on ? "on" : "off");
  for (const view of stage.views) view.bottoms = view.ends = null;
  if (stage.race.open) stage.draw();
}

function createEntry(stage, entry) {
  const { mark, look, role, labels } = entry;
  const isCopy = role.endsWith("-bit model"); // see csd/roles.py
  const meaning = mark === "T" ? "target" : mark === "0" ? "Max-Gram" : isCopy ? role : "draft";
  const gloss = mark === "0" ? "lookup, no model" : isCopy ? "the big model with rounded weights" : ""; // names that nobody can guess
  const names = labels.filter((name) => !role.split(" ").includes(name)).join(" / "); // those that the role does not say
  const count = h("span", { class: "cs-legend-count" });
  stage.legend.counts.set(mark, count);
  return h("button", { type: "button", class: "cs-legend-item", "aria-pressed": "false", "data-level": mark,
                       "data-term": meaning, "data-exact": names, onclick: () => highlight(stage, mark) },
    h("span", { class: "cs-swatch", "data-look": look, "data-mark": mark }),
    h("span", { class: "cs-legend-name" }, h("b", { text: role }), gloss ? h("span", { class: "cs-legend-gloss", text: ` (${gloss})` }) : null, count));
}

// Dims the tokens of all other levels, or brings them back.
function highlight({ root, legend }, mark) {
  root.dataset.solo = root.dataset.solo === mark ? "" : mark;
  for (const entry of legend.list.querySelectorAll("button")) {
    entry.setAttribute("aria-pressed", String(entry.dataset.level === root.dataset.solo));
  }
}
