// Puzzles in a panel at the bottom of the window. The visitor opens one, and the races after that may solve it: the server
// says what the latest race came to, and the browser remembers what was solved. A prediction counts unopened.

import { make } from "./elements.js";

const SOLVED = "cascade-puzzles"; // in localStorage: what was measured, by puzzle
const RACES = "cascade-racing"; // the event of a race that begins: the panel makes room for it, see assets/page/racing.js
const OPENS = "cascade-panel"; // the event of a panel that opens: in a narrow window the others close
const PREDICT = "predict"; // the puzzle that asks after the race
const ASK_RACE = "Race once with the lanes autoregressive and speculative: the question is about what that race measures.";

// `puzzles` are [{key, title, task, start, hint, field}]; a value is {race, found: {key: {solved, said}}, question}. `send(number)` is
// called with a prediction. Returns a function that shows another value.
export function startPuzzles(root, puzzles, value, send) {
  const panel = root.querySelector("section");
  const narrow = matchMedia("(max-width: 1000px)"); // wider, the settings and the puzzles stand side by side
  const small = matchMedia("(max-width: 1000px), (max-height: 850px)"); // the text of a race has no room above a whole puzzle
  const view = { panel, solved: remembered(puzzles), rows: new Map(), count: make("b", {}), chosen: null, seen: new Set() };
  view.models = make("p", { class: "puzzles-models", role: "status" }); // other models than the page's own, as one's own words bring them
  view.news = make("span", { role: "status" }); // what a race made of the chosen puzzle, while the panel is closed
  view.open = make("button", { type: "button", id: "puzzles-open", "aria-expanded": "false" }, "Puzzles ", view.count, view.news);
  view.close = make("button", { type: "button", class: "puzzles-close" }, "Close");
  view.all = make("button", { type: "button", class: "puzzles-all" }, "All puzzles");
  for (const puzzle of puzzles) view.rows.set(puzzle.key, buildRow(puzzle, send, () => choose(view, puzzle.key)));
  root.prepend(view.open);
  panel.append(
    make("header", {}, make("h2", {}, "Puzzles"), make("p", {}, "Choose one, then race."), view.all, view.close),
    make("ol", {}, ...[...view.rows.values()].map((row) => row.box)),
  );
  const draw = (isOpen) => {
    panel.hidden = !isOpen;
    document.documentElement.toggleAttribute("data-puzzles", isOpen); // the stage keeps its replay bar above the panel
    view.news.textContent = "";
    view.open.setAttribute("aria-expanded", String(isOpen));
  };
  const show = (isOpen) => {
    draw(isOpen);
    if (isOpen) followModels(view);
    if (isOpen) window.dispatchEvent(new CustomEvent(OPENS, { detail: panel }));
    (isOpen ? panel : view.open).focus({ preventScroll: true });
  };
  window.addEventListener(OPENS, ({ detail }) => {
    if (detail !== panel && narrow.matches) draw(false);
  });
  window.addEventListener(RACES, () => {
    view.news.textContent = ""; // it was about the race before
    if (view.chosen) arrange(view, narrow.matches || (small.matches && view.chosen !== PREDICT) ? "line" : "one");
  });
  view.all.addEventListener("click", () => {
    arrange(view, "all");
    panel.focus({ preventScroll: true });
  });
  view.open.addEventListener("click", () => show(panel.hidden));
  view.close.addEventListener("click", () => show(false));
  document.addEventListener("click", ({ target }) => {
    if (view.chosen in view.solved && target.closest('[role="tab"]')) draw(false);
  });
  panel.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the stage has keys of its own
    if (event.key === "Escape") show(false);
  });
  const { style } = document.documentElement;
  new ResizeObserver(() => style.setProperty("--puzzles-height", `${panel.offsetHeight}px`)).observe(panel);
  arrange(view, "all");
  update(view, value);
  return (next) => afterReplay(() => update(view, next));
}

// What a race came to is not told before its replay has shown it. The stage begins the replay in the same moment as the value comes.
function afterReplay(tell) {
  setTimeout(() => {
    const stage = document.querySelector("#stage .cascade-stage");
    const plays = () => stage?.hasAttribute("data-unasked");
    if (!plays()) return void tell();
    const watch = new MutationObserver(() => {
      if (plays()) return;
      watch.disconnect();
      tell();
    });
    watch.observe(stage, { attributeFilter: ["data-unasked"] });
  });
}

// Which models race is in the line of the examples, see assets/page/settings.js. It is there once the panel opens.
function followModels(view) {
  if (view.follows) return;
  view.follows = true;
  const [lines, home] = ["lines", "back-home"].map((id) => document.getElementById(id));
  const tell = () => void (view.models.textContent = tellModels(lines.dataset.away, home.textContent));
  new MutationObserver(tell).observe(lines, { attributes: true, attributeFilter: ["data-away"] });
  tell();
}

// `models` are not the page's own; `back` is what the button says that brings those.
export const tellModels = (models, back) => (models ? `Your races run ${models} now. Press “${back.trim()}” for those of the page.` : "");

// The findings that count: of the chosen puzzle, in a race that was not seen before, and of a prediction.
export function counting({ race, found = {} }, chosen, seen) {
  const isNew = Boolean(race) && !seen.has(race);
  const counts = ([key]) => key === PREDICT || (isNew && key === chosen);
  return Object.fromEntries(Object.entries(found).filter(counts));
}

// What is solved after these findings. A puzzle that was solved stays solved, by the race that did it first.
export function addFindings(solved, found) {
  const fresh = Object.entries(found).filter(([key, finding]) => finding.solved && !(key in solved));
  return { ...Object.fromEntries(fresh.map(([key, finding]) => [key, finding.said])), ...solved };
}

// The panel shows "all" titles, "one" puzzle, or of that only a "line".
function arrange(view, layout) {
  view.panel.dataset.layout = layout;
  view.rows.get(view.chosen)?.box.append(view.models);
  for (const [key, row] of view.rows) {
    const isChosen = key === view.chosen;
    row.box.toggleAttribute("data-chosen", isChosen);
    row.box.hidden = layout !== "all" && !isChosen;
    row.title.setAttribute("aria-expanded", String(layout === "one" && isChosen));
  }
}

// A press on the title of the puzzle that is shown folds it to a line, and unfolds it. Whoever picks one races next.
function choose(view, key) {
  const isShown = view.chosen === key && view.panel.dataset.layout === "one";
  view.chosen = key;
  if (!isShown) showRaceTab();
  arrange(view, isShown ? "line" : "one");
}

function update(view, value) {
  const { race = "", question = "" } = value || {};
  const found = counting(value || {}, view.chosen, view.seen);
  const own = found[view.chosen];
  if (own && view.panel.hidden && !(view.chosen in view.solved)) view.news.textContent = own.solved ? " \u00b7 solved" : " \u00b7 not yet";
  if (race) view.seen.add(race);
  const before = Object.keys(view.solved).length;
  view.solved = addFindings(view.solved, found);
  if (Object.keys(view.solved).length > before) remember(view.solved);
  for (const [key, row] of view.rows) {
    const isSolved = key in view.solved;
    row.box.toggleAttribute("data-solved", isSolved);
    if (found[key]) row.said.textContent = `Not yet: ${found[key].said}`;
    if (isSolved) row.said.textContent = `\u2713 Solved: ${view.solved[key]}`;
    if (!row.form) continue;
    row.question.textContent = question || ASK_RACE;
    row.form.hidden = !question;
    row.race.hidden = Boolean(question);
  }
  view.count.textContent = `${Object.keys(view.solved).length}/${view.rows.size}`;
}

function buildRow({ key, title, task, start, hint, field }, send, choose) {
  const row = { title: make("button", { type: "button", class: "puzzles-title" }, title), said: make("p", { class: "puzzles-said", role: "status" }, start) };
  row.title.addEventListener("click", choose);
  const parts = [make("p", { class: "puzzles-task" }, task)];
  if (key === PREDICT) {
    row.question = make("p", { class: "puzzles-task" });
    row.form = buildForm(send);
    row.race = button("Race", race);
    parts.push(row.question, row.form, row.race);
  } else parts.push(button("Settings", () => openSettings(field)));
  row.box = make("li", { "data-puzzle": key }, row.title, ...parts,
    make("details", {}, make("summary", {}, "Hint"), make("p", {}, hint)), row.said);
  return row;
}

function button(label, press) {
  const one = make("button", { type: "button", class: "puzzles-do" }, label);
  one.addEventListener("click", press);
  return one;
}

// Prompt, settings and Race are there, and what a race came to.
function showRaceTab() {
  document.querySelector('#tabs [role="tab"][data-tab-id="race"]').click();
}

function race() {
  showRaceTab();
  document.getElementById("race").click();
}

// At the field that the puzzle is about, see assets/page/sections.js.
function openSettings(field) {
  showRaceTab();
  window.dispatchEvent(new CustomEvent("cascade-field", { detail: field }));
}

function buildForm(send) {
  const number = make("input", { type: "number", step: "any", min: "0", inputmode: "decimal", "aria-label": "Your prediction, times as fast" });
  const form = make("form", {}, number, make("button", { type: "submit" }, "Check"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(number.value.trim() === "" ? null : Number(number.value));
  });
  return form;
}

function remembered(puzzles) {
  try {
    const found = JSON.parse(localStorage.getItem(SOLVED)) || {};
    const known = puzzles.filter(({ key }) => typeof found[key] === "string");
    return Object.fromEntries(known.map(({ key }) => [key, found[key]]));
  } catch {
    return {}; // storage may be blocked in a frame, or hold something else
  }
}

function remember(solved) {
  try {
    localStorage.setItem(SOLVED, JSON.stringify(solved));
  } catch {
    // the page forgets them when it is closed
  }
}
