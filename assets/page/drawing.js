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
  if (!document.documentElement.hasAttribute("data-drawing")) return;
  const early = window.CascadeEarly?.endEarly();
  beginStage(early);
  document.documentElement.removeAttribute("data-drawing");
  document.removeEventListener("keydown", keepKey);
  if (isAsked) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: PRESENT, bubbles: true }));
  isAsked = false;
  early?.press();
}

// The page's stage has waited, see csd/stage/bundle.py: it goes on where the early one was. What a link brings begins later, see
// arrival.js.
function beginStage(early) {
  const root = stageRoot();
  if (root?.dataset.state !== "replay" || root.cascadeStage.place().step || document.documentElement.hasAttribute("data-arriving")) return;
  if (early?.race === root.dataset.race) root.cascadeStage.begin(early.time, early.played);
  else root.cascadeStage.begin();
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
