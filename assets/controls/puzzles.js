// Puzzles in a panel over the page. The server says what the latest race solved; the browser remembers it.

import { make } from "./elements.js";

const SOLVED = "cascade-puzzles"; // in localStorage: what was measured, by puzzle

// `puzzles` are [{key, task, hint}]; a value is {found: {key: {solved, said}}, question}. `send(number)` is called with a
// prediction. Returns a function that shows another value.
export function startPuzzles(root, puzzles, value, send) {
  const panel = root.querySelector("section");
  const view = { solved: remembered(puzzles), rows: new Map(), count: make("b", {}) };
  view.open = make("button", { type: "button", id: "puzzles-open", "aria-expanded": "false" }, "Puzzles ", view.count);
  const close = make("button", { type: "button", class: "puzzles-close" }, "Close");
  for (const puzzle of puzzles) view.rows.set(puzzle.key, buildRow(puzzle, send));
  root.prepend(view.open);
  panel.append(
    make("header", {}, make("h2", {}, "Puzzles"), make("p", {}, "Your own races solve them."), close),
    make("ol", {}, ...[...view.rows.values()].map((row) => row.box)),
  );
  const show = (isOpen) => {
    panel.hidden = !isOpen;
    view.open.setAttribute("aria-expanded", String(isOpen));
    (isOpen ? panel : view.open).focus({ preventScroll: true });
  };
  view.open.addEventListener("click", () => show(panel.hidden));
  close.addEventListener("click", () => show(false));
  panel.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the stage has keys of its own
    if (event.key === "Escape") show(false);
  });
  update(view, value);
  return (next) => update(view, next);
}

// What is solved after these findings. A puzzle that was solved stays solved, by the race that did it first.
export function addFindings(solved, found) {
  const fresh = Object.entries(found || {}).filter(([key, finding]) => finding.solved && !(key in solved));
  return { ...Object.fromEntries(fresh.map(([key, finding]) => [key, finding.said])), ...solved };
}

function update(view, value) {
  const { found = {}, question = "" } = value || {};
  const before = Object.keys(view.solved).length;
  view.solved = addFindings(view.solved, found);
  if (Object.keys(view.solved).length > before) remember(view.solved);
  for (const [key, row] of view.rows) {
    const isSolved = key in view.solved;
    row.box.toggleAttribute("data-solved", isSolved);
    if (isSolved) row.said.textContent = `\u2713 Solved: ${view.solved[key]}`;
    else if (found[key]) row.said.textContent = `Not yet: ${found[key].said}`;
    if (row.question) row.question.textContent = question || "Race with the lanes autoregressive and speculative first.";
    if (row.form) row.form.hidden = !question;
  }
  view.count.textContent = `${Object.keys(view.solved).length}/${view.rows.size}`;
}

function buildRow({ key, task, hint }, send) {
  const said = make("p", { class: "puzzles-said", role: "status" });
  const row = { said };
  const parts = [make("p", {}, task)];
  if (key === "predict") {
    row.question = make("p", {});
    row.form = buildForm(send);
    parts.push(row.question, row.form);
  }
  row.box = make("li", { "data-puzzle": key }, ...parts, said, make("details", {}, make("summary", {}, "Hint"), make("p", {}, hint)));
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
