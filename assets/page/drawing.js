// Gradio draws its parts one after another. They come into view together, so that nothing moves. Who presses `p` before that
// presents as soon as there is something to present, and so does a page that is loaded again while it presents. The document itself begins with `data-drawing`, see csd/web/scripts.py.

import { stageRoot } from "./dom.js";

export const LONGEST_DRAWING = 15000; // milliseconds: whatever is there by then is shown

const PRESENT = "p";
const KEPT = "cascade-presenting"; // in sessionStorage, see assets/stage/present.js

let isAsked = false; // to present

export function drawTogether() {
  document.addEventListener("keydown", keepKey);
  isAsked = wasPresenting();
  setTimeout(showDrawn, LONGEST_DRAWING);
}

export function showDrawn() {
  const early = window.CascadeEarly?.endEarly();
  const race = stageRoot()?.cascadeStage;
  if (race?.time === 0) race.begin(early?.race === stageRoot().dataset.race ? early.time : 0); // it has waited, see csd/stage/bundle.py
  document.documentElement.removeAttribute("data-drawing");
  document.removeEventListener("keydown", keepKey);
  if (isAsked) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: PRESENT, bubbles: true }));
  isAsked = false;
}

export function wasPresenting() {
  try {
    return sessionStorage.getItem(KEPT) !== null;
  } catch {
    return false;
  }
}

function keepKey({ key, ctrlKey, metaKey, altKey }) {
  if (key === PRESENT && !ctrlKey && !metaKey && !altKey) isAsked = !isAsked;
}
