// The list of races: an event without another choice, as when it is closed with Escape, shows nothing.

import { writeRace } from "./address.js";
import { byId } from "./dom.js";

let listed = ""; // the title that the list showed when it was opened

const shownTitle = () => document.querySelector("#earlier input").value;

export function watchList() {
  document.addEventListener("focusin", ({ target }) => {
    if (target.closest("#earlier")) listed = shownTitle();
  });
}

// Called with the id of the race in the list; presses the button that shows it.
export async function chooseRace(id) {
  await new Promise(requestAnimationFrame); // the list writes the title after its event
  if (shownTitle() === listed) return;
  listed = shownTitle();
  writeRace(id);
  byId("show-race").click();
}
