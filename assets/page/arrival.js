// What a link brings comes in place of the race at the start, which is not seen playing under another prompt.

import { stage } from "./dom.js";
import { LONGEST_DRAWING } from "./drawing.js";
import { addressed } from "./fragment.js";
import { hasSettings } from "./query.js";

export function awaitLink() {
  if (!addressed().startsWith("race=") && !hasSettings()) return;
  document.documentElement.setAttribute("data-arriving", "");
  stage().pause();
  setTimeout(arrive, LONGEST_DRAWING);
}

export function arrive() {
  document.documentElement.removeAttribute("data-arriving");
}
