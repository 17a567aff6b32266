// The race that the page begins with plays as soon as there is a document, long before Gradio has drawn the page: the document
// brings both the race and the script of the stage. Above it the form can be read, but not used yet. Then the page's own stage
// goes on where this one is.

import { hasRaced } from "./comeback.js";
import { wasPresenting } from "./drawing.js";
import { hasSettings } from "./query.js";

const SIZES = "(min-width: 1001px) or (max-width: 700px)"; // between them the height of the form varies, see drawing.css
const DARK = "(prefers-color-scheme: dark)";
const THEME = "__theme"; // Gradio's own name in an address

let ground = null;

// Not under an address that may bring another race or hide controls, nor after a visitor's own races. The page's style begins
// with that of the stage, in so many `letters`.
export function playEarly(letters) {
  const { components = [], css = "" } = window.gradio_config ?? {};
  const propsOf = (id) => components.find(({ props }) => props.elem_id === id)?.props ?? {};
  const { value, js_on_load: script } = propsOf("stage");
  if (!value?.log || hasSettings() || location.hash || hasRaced() || wasPresenting()) return;
  if (!matchMedia(SIZES).matches) return;
  ground = document.createElement("div");
  const [style, form, prompt, race, frame, root] = ["style", "div", "p", "b", "div", "div"].map((tag) => document.createElement(tag));
  Object.assign(ground, { id: "early", inert: true, className: isDark() ? "dark" : "" });
  style.textContent = css.slice(0, letters);
  form.className = "early-form";
  prompt.textContent = propsOf("prompt").value;
  race.textContent = propsOf("race").value;
  form.append(prompt, race);
  root.className = "cascade-stage";
  frame.append(root);
  ground.append(style, form, frame);
  document.documentElement.append(ground);
  new Function("element", "props", "watch", script)(frame, { value, early: true }, () => {});
}

function isDark() {
  const theme = new URLSearchParams(location.search).get(THEME);
  return theme === "dark" || (theme !== "light" && matchMedia(DARK).matches);
}

// Ends it. Returns {race, time} where it stood, null where there was none.
export function endEarly() {
  const early = ground?.querySelector(".cascade-stage").cascadeStage;
  if (!early) return null;
  const place = { race: early.place().race, time: early.time };
  early.update({});
  ground.remove();
  ground = null;
  return place;
}
