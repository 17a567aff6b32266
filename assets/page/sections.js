// The sections of the settings: closed, each says in its heading what it holds. One opens for whatever concerns a field in it.

import { byId } from "./dom.js";
import { isOpen, toggle } from "./panels.js";

const KEPT = "cascade-sections"; // in sessionStorage: the ids of those that the visitor has left open
const OWN = "your own"; // of csd/web/section_words.py
const OPENS = "cascade-field"; // the event of a field to be shown: controls/puzzles.js asks for it

const sections = () => [...document.querySelectorAll("#advanced .section")];

export function watchSections() {
  const kept = (sessionStorage.getItem(KEPT) || "").split(",");
  for (const section of sections()) if (kept.includes(section.id)) setOpen(section, true);
  for (const name of new URLSearchParams(location.search).keys()) reveal(name.replace("_", "-")); // a link brings its value
  byId("advanced").addEventListener("click", ({ target }) => {
    const button = target.closest(".section-heading button");
    if (button) turn(button.closest(".section"));
  });
  window.addEventListener(OPENS, ({ detail }) => requestAnimationFrame(() => openField(detail))); // the Race tab is drawn first
}

// What the sections hold, as csd/web/section_words.py says it. A plan of the visitor's own is named beside the button, too.
export function tellSections(words) {
  const told = JSON.parse(words);
  byId("more").toggleAttribute("data-own-plan", told.plan === OWN);
  for (const [name, said] of Object.entries(told)) {
    byId(`${name}-section`).querySelector(".section-heading span").textContent = said;
  }
}

// Opens the section of a field, and returns it; null for a field that is in none.
export function reveal(field) {
  const section = byId(field)?.closest("#advanced .section") ?? null;
  if (section) setOpen(section, true);
  return section;
}

// The same in the open drawer, where the section comes into view.
export function openField(field) {
  if (!isOpen("more")) toggle("more");
  reveal(field)?.scrollIntoView({ block: "start" });
}

function turn(section) {
  setOpen(section, !section.hasAttribute("data-open"));
  sessionStorage.setItem(KEPT, sections().filter((one) => one.hasAttribute("data-open")).map(({ id }) => id).join());
}

function setOpen(section, isOpened) {
  section.toggleAttribute("data-open", isOpened);
  section.querySelector(".section-heading button").setAttribute("aria-expanded", String(isOpened));
}
