// What the stage asks of the page around it: to race, with the form as it stands or, while it is presented, with an
// example; to stop; to begin the tour; and to copy a link. assets/page/racing.js answers the events. An exported file has no form, and nothing
// to ask.

import { button, h } from "./dom.js";

const RACE = "#race"; // of the page's form
const STOP = "#stop";
const EXAMPLES = "#examples button";
const LOSE = "#lose";
const TOUR = "#tour-start";
const SLIDES = ".tour section[data-talk]";
const LINK = "#copy-race";
const PAGE = ".gradio-container";

export function createBridge(stage) {
  const race = button("cs-button cs-race", "Race", { title: "Race with the page's form (r)", onclick: () => askForRace() });
  const stop = button("cs-button cs-stop", "Stop", {
    title: "Stop the race", onclick: () => window.dispatchEvent(new Event("cascade-stop")),
  });
  const examples = h("span", { class: "cs-examples", role: "group", "aria-label": "Race an example" });
  const tour = button("cs-button cs-to-tour", "How it works", {
    title: "The idea in eight pictures (g)", onclick: askForTour,
  });
  window.addEventListener("cascade-prompt", () => openBridge(stage)); // the form is there, or has other examples
  return { box: h("span", { class: "cs-bridge", hidden: true }, stop, tour, examples, race), tour, examples, race, stop, names: "", asked: -1, racing: false };
}

// Names the examples that the page has now.
export function openBridge(stage) {
  const { bridge, presenting } = stage;
  if (!presenting) return;
  bridge.box.hidden = !document.querySelector(RACE);
  bridge.tour.hidden = !hasTour();
  const names = [...document.querySelectorAll(EXAMPLES)].filter((chip) => chip.checkVisibility())
    .map((chip) => chip.textContent.trim());
  if (names.join() !== bridge.names) {
    bridge.names = names.join();
    bridge.examples.replaceChildren(...names.map((name) =>
      button("cs-button cs-example", name, { title: `Race an example: ${name}`, onclick: () => askForRace(name) })));
  }
  showRacing(stage, bridge.racing);
}

// While a race of the visitor runs nothing else can start, and it can be stopped. Every button keeps its place.
export function showRacing({ bridge }, on) {
  const stop = document.querySelector(STOP);
  bridge.racing = on;
  bridge.stop.toggleAttribute("data-ready", on && Boolean(stop && stop.checkVisibility()));
  for (const node of [bridge.race, ...bridge.examples.children]) node.disabled = on;
}

export function hasTour() {
  return Boolean(document.querySelector(TOUR));
}

// The slides of a talk after the race that it begins with.
export function countSlides() {
  return hasTour() ? document.querySelectorAll(SLIDES).length : 0;
}

export function titleOfSlide(slide) {
  return document.querySelectorAll(SLIDES)[slide]?.querySelector("h2").textContent ?? "";
}

export function askForTour() {
  document.querySelector(TOUR)?.click();
}

// The acts of a talk from one of them on, or from the last one.
// `calls` holds what the talk calls: `leaveAt(slide)` when the slides are left, of which that one is next, `again` when it begins
// anew, `end` when nothing is to be presented any more, `tell(note)` for the speaker, and `openNotes` for the window with the notes.
export function askForTalk(from, calls) {
  window.dispatchEvent(new CustomEvent("cascade-talk", { detail: { from, ...calls } }));
}

// The form, with its link, may be drawn after the stage.
export function hasLink() {
  return Boolean(document.querySelector(PAGE));
}

export function askForLink() {
  document.querySelector(LINK)?.click();
}

// The examples in turn, from the first one on.
export function askForExample({ bridge }) {
  const names = bridge.names.split(",").filter((name) => name && name !== nameOf(LOSE));
  bridge.asked = (bridge.asked + 1) % names.length;
  if (names.length) askForRace(names[bridge.asked]);
}

// A race that was on the stage before.
export function askForRaceAgain(race) {
  window.dispatchEvent(new CustomEvent("cascade-show", { detail: { race } }));
}

export function askForLoss() {
  if (nameOf(LOSE)) askForRace(nameOf(LOSE));
}

const nameOf = (chip) => document.querySelector(chip)?.textContent.trim() ?? "";

// With the name of an example, the next one of that kind; else with what the form holds.
export function askForRace(example = "") {
  if (document.querySelector(RACE)) window.dispatchEvent(new CustomEvent("cascade-race", { detail: { example } }));
}
