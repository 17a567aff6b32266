// What a button opens: the drawer with the settings, the panel with the races.

import { byId } from "./dom.js";

const OPENED = { more: "advanced", races: "races-panel" }; // by the id of the button
const LIST = "#earlier input"; // which shows its options while it has the focus
const OPENS = "cascade-panel"; // the event of a panel that opens, here or in controls/puzzles.js

export const isOpen = (button) => byId(OPENED[button]).hasAttribute("data-open");

export function toggle(button) {
  if (isOpen(button)) {
    close(button);
    return;
  }
  const panel = byId(OPENED[button]);
  panel.setAttribute("data-open", "");
  byId(button).setAttribute("aria-expanded", "true");
  window.dispatchEvent(new CustomEvent(OPENS, { detail: panel }));
  (panel.querySelector(LIST) ?? panel).focus();
}

// The focus goes back to the button that opened the panel, unless it is already somewhere else.
export function close(button) {
  if (!isOpen(button)) return;
  const panel = byId(OPENED[button]);
  const hadFocus = panel.contains(document.activeElement);
  panel.removeAttribute("data-open");
  byId(button).setAttribute("aria-expanded", "false");
  if (hadFocus) byId(button).focus();
}

// What Gradio's components cannot say by themselves, and the ways to close a panel.
export function startPanels() {
  for (const [button, panel] of Object.entries(OPENED)) {
    const attributes = { role: "dialog", "aria-label": button === "more" ? "Settings" : "Past races", tabindex: "-1" };
    for (const [name, value] of Object.entries(attributes)) byId(panel).setAttribute(name, value);
    byId(button).setAttribute("aria-expanded", "false");
    byId(button).setAttribute("aria-controls", panel);
  }
  const table = { role: "region", "aria-label": "Families and their sizes", tabindex: "0" }; // it scrolls to the side
  for (const [name, value] of Object.entries(table)) byId("families").setAttribute(name, value);
  byId("more").title = "Settings: models, methods, length, sampling";
  document.addEventListener("keydown", closeOnEscape);
  document.addEventListener("pointerdown", closeRacesOutside);
  window.addEventListener(OPENS, closeOthers);
}

// In a narrow window one panel is open at a time; in a wide one the puzzles stand beside the settings.
function closeOthers({ detail }) {
  if (!matchMedia("(max-width: 1000px)").matches) return;
  Object.keys(OPENED).filter((button) => byId(OPENED[button]) !== detail).forEach(close);
}

function closeOnEscape(event) {
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  const at = document.activeElement;
  if (at.getAttribute("aria-expanded") === "true" && at.matches("input") && !at.matches(LIST)) return; // closes its list of options first
  if (!byId("stage").contains(at)) Object.keys(OPENED).forEach(close);
}

function closeRacesOutside({ target }) {
  if (!target.closest("#replays")) close("races");
}
