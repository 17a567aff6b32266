// The first stop of the Tab key: it leads past the head and the form to what the open tab shows.

import { byId, stageRoot } from "./dom.js";

export function addSkipLink() {
  const link = document.createElement("button");
  Object.assign(link, { type: "button", className: "skip-link", textContent: "Skip to content", onclick: skipForm });
  byId("top").prepend(link);
}

function skipForm() {
  const panel = [...document.querySelectorAll("#tabs [role=tabpanel]")].find((one) => one.checkVisibility());
  const shown = panel.contains(stageRoot()) ? stageRoot() : panel;
  if (shown === panel) panel.tabIndex = -1;
  shown.focus();
}
