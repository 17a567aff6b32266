// What stands in place of a race, or above an earlier one: how to begin, or why there is none, and a button that races
// the prompt in the form.

import { askForRace } from "./bridge.js";
import { button, h, put } from "./dom.js";

const SHORT = 100; // characters that leave room for the button in one line of a page
const EMPTY = "Each method gets a lane here, and every token shows who proposed it.";

export function createInvitation() {
  const text = h("p", { text: EMPTY });
  const race = button("cs-invite", "Race this prompt", { onclick: () => askForRace() });
  return { box: h("div", { class: "cs-empty" }, text, race), text, race };
}

export function drawInvitation({ invitation: { box, text, race }, race: { ask, open } }) {
  put(text, ask || EMPTY);
  put(race, ask && open ? "Race the prompt above" : "Race this prompt");
  box.toggleAttribute("data-above", Boolean(ask && open));
  box.toggleAttribute("data-short", Boolean(ask && ask.length <= SHORT));
}

// Above an earlier race: what it said has been read, and the next answer is what counts.
export function dropInvitation(stage) {
  if (stage.race.open) stage.race.ask = "";
  drawInvitation(stage);
}
