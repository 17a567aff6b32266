// What a link brings, or the visitor's own race where the page is loaded again, comes in place of the race at the start,
// which is not seen playing under another prompt.

import { hasRaced } from "./comeback.js";
import { stage } from "./dom.js";
import { LONGEST_DRAWING } from "./drawing.js";
import { addressed } from "./fragment.js";
import { hasSettings } from "./query.js";

export function awaitLink() {
  if (!addressed().startsWith("race=") && !hasSettings() && !hasRaced()) return;
  document.documentElement.setAttribute("data-arriving", "");
  stage().pause();
  setTimeout(arrive, LONGEST_DRAWING);
}

export function arrive() {
  document.documentElement.removeAttribute("data-arriving");
}
