// The button that opens the drawer: "Settings", and the temperature where chance picks the words.

import { byId } from "./dom.js";
import { tellMethods } from "./numbers.js";

const SHINES = 1500; // milliseconds

// An example, a preset or a race that changes what is set there is seen to do so.
export function watchSettings() {
  const button = byId("more");
  let said = "";
  new MutationObserver(() => {
    const isChange = said && said !== button.textContent; // not the first words
    said = button.textContent;
    if (!isChange || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    button.animate([{ backgroundColor: "color-mix(in srgb, var(--body-text-color) 16%, transparent)" }, {}], SHINES);
  }).observe(button, { subtree: true, childList: true, characterData: true });
}

// The text of the button, and whether the one beside it leads back to the family that the page begins with; `data-away` names
// another one.
export function tellSettings(titles, name, lanes, temperature) {
  const family = titles[name] ?? name;
  const home = byId("back-home").textContent.trim();
  const isAway = !home.endsWith(` ${family}`);
  if (isAway) byId("lines").dataset.away = family;
  else delete byId("lines").dataset.away;
  document.querySelector("#try span").textContent = isAway ? `Or race with ${family.split(" ")[0]}:` : "Or race:";
  tellMethods(lanes.length);
  return settingsInWords(temperature);
}

export const settingsInWords = (temperature) => (temperature > 0 ? `Settings \u00B7 temperature ${temperature}` : "Settings");
