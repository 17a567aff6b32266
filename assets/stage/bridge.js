// What the stage asks of the page around it: to race, with the form as it stands or, while it is presented, with an
// example. assets/page.js answers the event. An exported file has no form, and nothing to ask.

import { button, h } from "./dom.js";

const RACE = "#race"; // of the page's form
const EXAMPLES = "#examples button";

export function createBridge() {
  const race = button("cs-button cs-race", "Race", { title: "Race with the page's form (r)", onclick: () => askForRace() });
  const examples = h("span", { class: "cs-examples", role: "group", "aria-label": "Race an example" });
  return { box: h("span", { class: "cs-bridge", hidden: true }, examples, race), examples };
}

// Names the examples that the page has now.
export function openBridge({ bridge }) {
  bridge.box.hidden = !document.querySelector(RACE);
  const chips = [...document.querySelectorAll(EXAMPLES)].filter((chip) => chip.checkVisibility());
  bridge.examples.replaceChildren(...chips.map((chip) => {
    const name = chip.textContent.trim();
    return button("cs-button cs-example", name, { title: `Race an example: ${name}`, onclick: () => askForRace(name) });
  }));
}

// With the name of an example, the next one of that kind; else with what the form holds.
export function askForRace(example = "") {
  if (document.querySelector(RACE)) window.dispatchEvent(new CustomEvent("cascade-race", { detail: { example } }));
}
