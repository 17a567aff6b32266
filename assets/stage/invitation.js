// What stands in place of a race: how to begin, or why there is none and a button that races the prompt in the form.

import { askForRace } from "./bridge.js";
import { button, h, put } from "./dom.js";

const EMPTY = "Press Race. The lanes fill here, and every token is marked with the level that proposed it.";

export function createInvitation() {
  const text = h("p", { text: EMPTY });
  const race = button("cs-invite", "Race this prompt", { onclick: () => askForRace() });
  return { box: h("div", { class: "cs-empty" }, text, race), text, race };
}

export function drawInvitation({ invitation: { text, race }, race: { ask } }) {
  put(text, ask || EMPTY);
  race.hidden = !ask;
}
