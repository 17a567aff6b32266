// One text, several cursors: where the texts are the same, it is shown once, and a cursor for each lane runs over it.

import { button, h, s } from "./dom.js";
import { colours, laneMarker } from "./linestyle.js";
import { isPlain, titleOf } from "./log.js";
import { forgetSizes, remember, remembered } from "./state.js";

const VIEWS = ["one", "columns"];
const LABELS = { one: "one text", columns: "columns" };

export function createViewChoice(stage) {
  const choices = VIEWS.map((value) =>
    button("cs-button", LABELS[value], { "data-value": value, onclick: () => chooseView(stage, value) }));
  const choice = h("span", { class: "cs-choice", role: "group", "aria-label": "Show the text" }, ...choices);
  return { choices, box: h("p", { class: "cs-choice-name" }, h("span", { text: "text" }), choice) };
}

export function restoreView(stage) {
  setView(stage, remembered("cascade-view", VIEWS));
}

// A presented race begins with one text, and the page has its own view again afterwards.
export function presentView(stage) {
  if (stage.presenting) stage.pageView = stage.chosenView;
  setView(stage, stage.presenting ? VIEWS[0] : stage.pageView || stage.chosenView);
}

export function cycleView(stage) {
  chooseView(stage, stage.chosenView === "one" ? "columns" : "one");
}

// Texts that need not be the same are shown in columns, whatever the visitor chose.
export function drawView(stage) {
  const { root, race, views } = stage;
  const mayDiffer = race.lanes.some((lane) => lane.info.rule === "rejection");
  const differ = race.close && race.close.headline && !race.close.headline.same && !isCut(race);
  const shown = mayDiffer || differ ? "columns" : stage.chosenView;
  stage.viewChoice.box.hidden = mayDiffer || Boolean(differ) || views.length < 2;
  if (root.dataset.view === shown) return;
  root.dataset.view = shown;
  forgetSizes(stage);
}

// A race that was stopped before every lane had begun, and whose texts are the same so far.
function isCut({ lanes, close }) {
  const isEmpty = lanes.some(({ end, tokens }) => end === "stopped" && !tokens.length);
  return isEmpty && !close.lanes.some(({ kind }) => kind === "differs");
}

// Puts the cursor of each lane behind the last token that it has written, in the text of the selected lane.
export function drawCursors(stage) {
  const { root, view, views, mode, reviewOpen } = stage;
  const isShown = root.dataset.view === "one" && mode !== "done" && !reviewOpen && view.tokenNodes.length > 0;
  for (const one of views) markAhead(one, isShown && one === view ? Math.max(...views.map(writtenBy)) : 0);
  for (const one of views) one.cursor ||= createCursor(one.lane);
  const places = views.map((one) => (isShown && one.shown ? endOfToken(view, writtenBy(one)) : null)); // all are read before any is set
  views.forEach(({ cursor }, i) => {
    if (places[i]) {
      if (cursor.parentNode !== view.text) view.text.append(cursor);
      Object.assign(cursor.style, places[i]);
    }
    cursor.hidden = !places[i]; // after it has been placed: else it would run there from where it was last seen
  });
}

function writtenBy({ lane, shown }) {
  return shown ? lane.steps[shown - 1].count : 0;
}

// Tokens that another lane has written, and the selected one has not.
function markAhead(view, furthest) {
  const now = view.tokenNodes.slice(writtenBy(view), furthest);
  for (const node of view.ahead) node.classList.remove("cs-ahead");
  for (const node of now) node.classList.add("cs-ahead");
  view.ahead = now;
}

function chooseView(stage, value) {
  remember("cascade-view", value);
  setView(stage, value);
}

function setView(stage, value) {
  stage.chosenView = value;
  for (const one of stage.viewChoice.choices) one.setAttribute("aria-pressed", String(one.dataset.value === value));
  if (stage.race.open) stage.draw();
}

function createCursor(lane) {
  return h("i", { class: "cs-caret", "data-plain": isPlain(lane), style: colours(lane.info.look || {}), title: `So far ${titleOf(lane)} has come`, "aria-hidden": "true" },
    s("svg", { viewBox: "0 0 14 14" }, laneMarker(lane.info, 7, 7)));
}

// Where the token ends that is the `count`-th of a text, as the style of a cursor. In a replay the text to come has its place
// already, so that each is measured once. Null where it is not drawn.
function endOfToken(view, count) {
  const number = Math.min(count, view.tokenNodes.length) - 1;
  if (!view.ends) return measureEnd(view, number);
  view.ends[number] ||= measureEnd(view, number);
  return view.ends[number];
}

function measureEnd({ text, tokenNodes }, number) {
  const rects = tokenNodes[number].getClientRects();
  const box = rects[rects.length - 1]; // a token that is broken over lines has several
  if (!box) return null;
  const frame = text.getBoundingClientRect();
  const zoom = text.currentCSSZoom || 1; // of the tour in a large window: rectangles have it, and lengths in a style do not
  const end = text.dir === "rtl" ? box.left : box.right;
  const x = (end - frame.left) / zoom - text.clientLeft;
  const y = (box.top - frame.top) / zoom - text.clientTop + text.scrollTop;
  return { transform: `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`, height: `${(box.height / zoom).toFixed(1)}px` };
}
