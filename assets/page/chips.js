// The chips with the examples. In a narrow window they are one line, and a mark at its end says that more follow.

import { byId } from "./dom.js";

export function watchChips() {
  const row = byId("examples");
  const mark = () => row.toggleAttribute("data-more", row.scrollLeft + row.clientWidth < row.scrollWidth - 8);
  row.addEventListener("scroll", mark, { passive: true });
  new ResizeObserver(mark).observe(row);
  new MutationObserver(mark).observe(row, { subtree: true, childList: true, characterData: true });
}
