// What stands in place of a race: how to begin, or why there is none, and a button that races the prompt in the form.

import { askForRace } from "./bridge.js";
import { button, h, put } from "./dom.js";

const EMPTY = "Each method gets a lane here, and every token shows who proposed it.";

export function createInvitation() {
  const text = h("p", { text: EMPTY });
  const race = button("cs-invite", "Race this prompt", { onclick: () => askForRace() });
  return { box: h("div", { class: "cs-empty" }, text, race), text };
}

export function drawInvitation({ invitation: { text }, race: { ask } }) {
  put(text, ask || EMPTY);
}
