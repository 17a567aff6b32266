// While the stage is presented, the prompt can be typed in place of its line: a mirror of the field of the page's form, which
// is what races. An exported file has no form, so there the prompt is text.

import { askForRace } from "./bridge.js";
import { h } from "./dom.js";
import { forgetSizes } from "./state.js";

const FIELD = "#prompt textarea";

export const findField = () => document.querySelector(FIELD);

// Fills in the field of the form; a framework that watches it hears of it by the event.
export function write(text) {
  const field = findField();
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

export function createPromptField(stage) {
  const typed = h("textarea", { class: "cs-prompt-typed", rows: 2, "aria-label": "Prompt. Enter races it, Escape leaves it.", hidden: true });
  typed.addEventListener("input", () => write(typed.value));
  typed.addEventListener("blur", () => show(stage, false));
  typed.addEventListener("keydown", (event) => press(stage, event));
  return typed;
}

// On the page that is the form's own.
export function openPromptField(stage) {
  const { presenting, promptLine: { typed } } = stage;
  const field = findField();
  if (!field) return;
  if (!presenting) {
    field.focus();
    field.scrollIntoView({ block: "nearest" });
    return;
  }
  typed.value = field.value;
  show(stage, true);
  typed.focus();
  typed.select();
}

function show(stage, on) {
  const { promptLine: { box, typed } } = stage;
  typed.hidden = !on;
  box.toggleAttribute("data-typing", on);
  forgetSizes(stage); // the text has another height
  stage.draw();
}

function press(stage, event) {
  const isRace = event.key === "Enter" && !event.shiftKey && !event.isComposing;
  if (!isRace && event.key !== "Escape") return;
  event.preventDefault();
  event.stopPropagation(); // Escape would end the presentation as well
  if (isRace && (stage.bridge.racing || !event.target.value.trim())) return;
  stage.root.focus({ preventScroll: true });
  if (isRace) requestAnimationFrame(() => askForRace()); // once the form has taken the text
}
