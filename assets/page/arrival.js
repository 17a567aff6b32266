// What a link brings, or the visitor's own race where the page is loaded again, comes in place of the race at the start,
// which is not seen playing under another prompt.

import { hasRaced } from "./comeback.js";
import { stage, stageRoot } from "./dom.js";
import { LONGEST_DRAWING } from "./drawing.js";
import { addressed } from "./fragment.js";
import { hasSettings } from "./query.js";

let first = ""; // the race at the start

export function awaitLink() {
  if (!addressed().startsWith("race=") && !hasSettings() && !hasRaced()) return;
  document.documentElement.setAttribute("data-arriving", "");
  if (stageRoot().dataset.state === "replay") stage().seek(0); // at no step, unless the link brings one
  first = stageRoot().dataset.race;
  setTimeout(arrive, LONGEST_DRAWING);
}

// Where a link names a race that is none, the one at the start plays after all.
export function arrive() {
  if (!document.documentElement.hasAttribute("data-arriving")) return;
  document.documentElement.removeAttribute("data-arriving");
  const { race, step } = stage().place();
  if (addressed().startsWith("race=") && race === first && !step && stageRoot().dataset.state === "replay") stage().begin();
}
