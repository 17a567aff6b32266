// Beside the button that copies a link: where the link opens, and another way to send the race where it opens nowhere else.

import { button, h } from "./dom.js";
import { placeBelow } from "./viewmenu.js";

const SEEN = 12_000; // milliseconds
const [EDGE, SIDE] = [4, 24]; // pixels of the window to its left, at least, and to its right

// The page sends `cascade-linked` with {said, save}; `save` is null where the link opens everywhere.
export function createLinkNote(link) {
  const note = h("div", { class: "cs-view-menu cs-link-note", popover: "", role: "status" }); // it closes with Escape or a click elsewhere
  let timer = 0;
  window.addEventListener("cascade-linked", ({ detail: { said, save } }) => {
    clearTimeout(timer);
    if (!save || !link.checkVisibility()) return;
    note.replaceChildren(h("span", { text: said }), button("cs-button", "Save the race as a file", { onclick: save }));
    note.showPopover();
    placeBelow(note, link);
    note.style.left = `${Math.max(EDGE, document.documentElement.clientWidth - SIDE - note.offsetWidth)}px`; // beside the sentence of a step, not over it
    timer = setTimeout(() => note.hidePopover(), SEEN);
  });
  window.addEventListener("popstate", () => note.hidePopover()); // the step that it tells of may be gone
  return note;
}
