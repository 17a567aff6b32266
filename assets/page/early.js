// The race that the page begins with plays as soon as there is a document, long before Gradio has drawn the page: the document
// brings both the race and the script of the stage. Above it stand the form and the page's buttons, see earlyform.js. Then the
// page's own stage goes on where this one is.

import { drawEarlyForm, pressAsAsked } from "./earlyform.js";
import { hasRaced } from "./comeback.js";
import { wasPresenting } from "./drawing.js";
import { hasSettings } from "./query.js";

const SIZES = "(min-width: 1001px) or (max-width: 700px)"; // between them the height of the form varies, see drawing.css
const DARK = "(prefers-color-scheme: dark)";
const THEME = "__theme"; // Gradio's own name in an address

let ground = null;

// Not under an address that may bring another race or hide controls, nor after a visitor's own races. The page's style begins
// with that of the stage, in so many `letters`; for `links` see earlyform.js.
export function playEarly(letters, links) {
  const { components = [], css = "", layout = {} } = window.gradio_config ?? {};
  const named = (name) => components.find(({ props }) => props.elem_id === name);
  const propsOf = (name) => named(name)?.props ?? {};
  const { value, js_on_load: script } = propsOf("stage");
  if (!value?.log || hasSettings() || location.hash || hasRaced() || wasPresenting()) return;
  if (!matchMedia(SIZES).matches) return;
  ground = document.createElement("div");
  const [style, frame, root] = ["style", "div", "div"].map((tag) => document.createElement(tag));
  Object.assign(ground, { id: "early", ariaHidden: "true", className: isDark() ? "dark" : "" });
  frame.inert = true;
  style.textContent = css.slice(0, letters);
  root.className = "cascade-stage";
  frame.append(root);
  const titlesIn = (name) => titlesOf(components, partsOf(layout, named(name)?.id));
  ground.append(style, ...drawEarlyForm(propsOf, titlesIn, links), frame);
  document.documentElement.append(ground);
  new Function("element", "props", "watch", script)(frame, { value, early: true }, () => {});
}

// What is in the part of this number.
function partsOf({ id, children = [] }, wanted) {
  if (id === wanted) return children;
  return children.flatMap((child) => partsOf(child, wanted));
}

// What stands on the tabs and buttons among these parts, as far as they are shown.
function titlesOf(components, parts) {
  const all = parts.map(({ id }) => components.find((component) => component.id === id));
  const shown = all.filter(({ type, props }) => ["tabitem", "button"].includes(type) && props.visible);
  return shown.map(({ props }) => props.label ?? props.value);
}

function isDark() {
  const theme = new URLSearchParams(location.search).get(THEME);
  return theme === "dark" || (theme !== "light" && matchMedia(DARK).matches);
}

// Ends it. Returns {race, time, played, press} where it stood, and what presses in the page what was pressed here; null where there was none.
export function endEarly() {
  const early = ground?.querySelector(".cascade-stage").cascadeStage;
  if (!early) return null;
  const place = { race: early.place().race, time: early.time, played: early.played, press: pressAsAsked };
  early.update({});
  ground.remove();
  ground = null;
  return place;
}
