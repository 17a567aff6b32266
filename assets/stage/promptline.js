// The prompt of the race on the stage, where the form does not show the same one, and while the stage is presented.

import { button, h, put } from "./dom.js";
import { showAll } from "./playback.js";
import { createPromptField, findField, openPromptField, write } from "./promptfield.js";

const [BEGIN, END] = [64, 44]; // characters, of which a word that is cut is left out

export function createPromptLine(stage) {
  const text = h("span", { class: "cs-prompt-text", onclick: () => openPromptField(stage) });
  const typed = createPromptField(stage);
  const more = button("cs-link", "show all", { onclick: () => toggle(line) });
  const use = button("cs-button", "Use this prompt", { onclick: () => fillForm(stage) });
  const refused = h("span", { class: "cs-prompt-refused" });
  const box = h("p", { class: "cs-prompt", hidden: true }, h("b", { text: "Prompt: " }), text, typed, more, use, refused);
  const line = { box, text, typed, more, use, refused };
  window.addEventListener("cascade-prompt", () => { // the form's has changed
    drawPromptLine(stage);
    if (stage.root.matches("[data-unasked][data-other]")) showAll(stage); // nobody watches it any more
  });
  return line;
}

export function drawPromptLine({ promptLine: { box, text, use }, race, presenting, root, lasts }) {
  if (root.hasAttribute("data-waiting")) return; // the race of the form's prompt is about to take the place of this one
  const prompt = race.open ? race.open.prompt : "";
  const field = findField();
  const isKnown = field && field.value.trim() === prompt.trim();
  box.hidden = !prompt || (isKnown && !presenting);
  use.hidden = !field || isKnown;
  root.toggleAttribute("data-other", Boolean(prompt && field && field.value.trim() && !isKnown && !presenting && !lasts)); // the tour has prompts of its own
  text.toggleAttribute("data-typable", Boolean(field));
  text.title = field && presenting ? "Type a prompt (/)" : "";
  put(text, presenting ? abridged(prompt) : prompt);
}

// A long prompt as it is presented: its beginning, and its end, which mostly says what to do.
function abridged(prompt) {
  if (prompt.length <= BEGIN + END) return prompt;
  return `${prompt.slice(0, BEGIN).replace(/\s\S*$/, "")} \u2026 ${prompt.slice(-END).replace(/^\S*\s/, "")}`;
}

// Why the race that was asked for does not run. Only a presented stage shows it: the page says it in its status line.
export function tellRefusal({ promptLine: { refused }, presenting }, sentence) {
  put(refused, presenting ? sentence : "");
}

function toggle({ box, more }) {
  const isOpen = box.toggleAttribute("data-open");
  put(more, isOpen ? "show less" : "show all");
}

function fillForm(stage) {
  write(stage.race.open.prompt);
  findField().focus();
}
