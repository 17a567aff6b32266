// How text and replay are shown, in a menu beside the replay: rejected words, levels as digits, one text or columns, and
// the replay's speed.

import { button, h } from "./dom.js";

const EDGE = 4; // pixels between the button and the menu

// `rows` are elements; the menu closes with Escape or a click elsewhere, as the browser's popovers do.
export function createViewMenu(...rows) {
  const menu = h("div", { class: "cs-view-menu", popover: "", role: "group", "aria-label": "How text and replay are shown" }, ...rows);
  const open = button("cs-button cs-view-open", "View", { title: "How text and replay are shown" });
  open.popoverTargetElement = menu;
  menu.addEventListener("toggle", () => {
    open.setAttribute("aria-expanded", String(menu.matches(":popover-open")));
    placeBelow(menu, open);
  });
  return h("span", { class: "cs-view" }, open, menu);
}

// Below the button, or above it where the window ends, with its right edge where there is room to its left.
export function placeBelow(menu, open) {
  const { right, top, bottom } = open.getBoundingClientRect();
  const isBelow = bottom + EDGE + menu.offsetHeight <= innerHeight;
  menu.style.top = `${isBelow ? bottom + EDGE : Math.max(EDGE, top - EDGE - menu.offsetHeight)}px`;
  menu.style.left = `${Math.max(EDGE, right - menu.offsetWidth)}px`;
}
