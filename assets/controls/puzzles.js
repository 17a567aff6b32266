// Puzzles in a panel under its button. The visitor chooses one, and the races after that may solve it: the server says what
// the latest race came to, and the browser remembers what was solved. A prediction counts unchosen.

import { make } from "./elements.js";

const SOLVED = "cascade-puzzles"; // in localStorage: what was measured, by puzzle
const RACES = "cascade-racing"; // the event of a race that begins: the panel makes room for it, see assets/page/racing.js
const OPENS = "cascade-panel"; // the event of a panel that opens: in a narrow window the others close

// `puzzles` are [{key, title, task, hint}]; a value is {race, found: {key: {solved, said}}, question}. `send(number)` is called with
// a prediction. Returns a function that shows another value.
export function startPuzzles(root, puzzles, value, send) {
  const panel = root.querySelector("section");
  const narrow = matchMedia("(max-width: 1000px)"); // wider, the settings and the puzzles stand side by side
  const view = { solved: remembered(puzzles), rows: new Map(), count: make("b", {}), chosen: null, seen: new Set() };
  view.news = make("span", { role: "status" }); // what a race made of the chosen puzzle, while the panel is closed
  view.isOpen = () => !panel.hidden;
  view.open = make("button", { type: "button", id: "puzzles-open", "aria-expanded": "false" }, "Puzzles ", view.count, view.news);
  const close = make("button", { type: "button", class: "puzzles-close" }, "Close");
  const all = make("button", { type: "button", class: "puzzles-all" }, "Show all");
  const choose = (key) => {
    view.chosen = view.chosen === key ? null : key;
    drawRows(view);
  };
  for (const puzzle of puzzles) view.rows.set(puzzle.key, buildRow(puzzle, send, choose));
  root.prepend(view.open);
  panel.append(
    make("header", {}, make("h2", {}, "Puzzles"), make("p", {}, "Choose one, then race."), all, close),
    make("ol", {}, ...[...view.rows.values()].map((row) => row.box)),
  );
  const shrink = (isSmall) => {
    panel.toggleAttribute("data-small", isSmall);
    for (const [key, row] of view.rows) row.box.toggleAttribute("data-told", isSmall && key === view.chosen);
  };
  const draw = (isOpen) => {
    shrink(false);
    panel.hidden = !isOpen;
    view.news.textContent = "";
    view.open.setAttribute("aria-expanded", String(isOpen));
  };
  const place = () => {
    const { left, right } = view.open.getBoundingClientRect();
    panel.style.setProperty("--from", `${left}px`);
    panel.style.setProperty("--to", `${right}px`);
  };
  const show = (isOpen) => {
    draw(isOpen);
    place();
    if (isOpen) window.dispatchEvent(new CustomEvent(OPENS, { detail: panel }));
    (isOpen ? panel : view.open).focus({ preventScroll: true });
  };
  window.addEventListener("resize", place);
  window.addEventListener(OPENS, ({ detail }) => {
    if (detail !== panel && narrow.matches) draw(false);
  });
  window.addEventListener(RACES, () => !panel.hidden && view.chosen && shrink(true));
  all.addEventListener("click", () => {
    shrink(false);
    panel.focus({ preventScroll: true });
  });
  view.open.addEventListener("click", () => show(panel.hidden));
  close.addEventListener("click", () => show(false));
  panel.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the stage has keys of its own
    if (event.key === "Escape") show(false);
  });
  update(view, value);
  return (next) => update(view, next);
}

// The findings that count: of the chosen puzzle, in a race that was not seen before, and of a prediction.
export function counting({ race, found = {} }, chosen, seen) {
  const isNew = Boolean(race) && !seen.has(race);
  const counts = ([key]) => key === "predict" || (isNew && key === chosen);
  return Object.fromEntries(Object.entries(found).filter(counts));
}

// What is solved after these findings. A puzzle that was solved stays solved, by the race that did it first.
export function addFindings(solved, found) {
  const fresh = Object.entries(found).filter(([key, finding]) => finding.solved && !(key in solved));
  return { ...Object.fromEntries(fresh.map(([key, finding]) => [key, finding.said])), ...solved };
}

function update(view, value) {
  const { race = "", question = "" } = value || {};
  const found = counting(value || {}, view.chosen, view.seen);
  const own = found[view.chosen];
  if (own && !view.isOpen()) view.news.textContent = own.solved ? " \u00b7 solved" : " \u00b7 not yet";
  if (race) view.seen.add(race);
  const before = Object.keys(view.solved).length;
  view.solved = addFindings(view.solved, found);
  if (Object.keys(view.solved).length > before) remember(view.solved);
  for (const [key, row] of view.rows) {
    if (found[key]) row.said.textContent = `Not yet: ${found[key].said}`;
    if (row.question) row.question.textContent = question || "Race first, a text of your own or an example, with the lanes autoregressive and speculative.";
    if (row.form) row.form.hidden = !question;
  }
  drawRows(view);
}

function drawRows(view) {
  if (view.chosen in view.solved) view.chosen = null;
  for (const [key, row] of view.rows) {
    const isSolved = key in view.solved;
    const isChosen = key === view.chosen;
    row.box.toggleAttribute("data-solved", isSolved);
    row.box.toggleAttribute("data-chosen", isChosen);
    if (isSolved) row.said.textContent = `\u2713 Solved: ${view.solved[key]}`;
    if (!row.choice) continue;
    row.choice.hidden = isSolved;
    row.choice.setAttribute("aria-pressed", String(isChosen));
    row.choice.textContent = isChosen ? "Your next race counts" : "Try this one";
  }
  view.count.textContent = `${Object.keys(view.solved).length}/${view.rows.size}`;
}

function buildRow({ key, title, task, hint }, send, choose) {
  const said = make("p", { class: "puzzles-said", role: "status" });
  const row = { said };
  const parts = [make("p", {}, task)];
  if (key === "predict") {
    row.question = make("p", {});
    row.form = buildForm(send);
    parts.push(row.question, row.form);
  } else {
    row.choice = make("button", { type: "button", class: "puzzles-choice" });
    row.choice.addEventListener("click", () => choose(key));
  }
  row.task = make("details", { name: "puzzles-task" }, make("summary", {}, title), ...parts,
    make("div", { class: "puzzles-row" }, ...(row.choice ? [row.choice] : []),
      make("details", {}, make("summary", {}, "Hint"), make("p", {}, hint))));
  row.box = make("li", { "data-puzzle": key }, row.task, said);
  return row;
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
