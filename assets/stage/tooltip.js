// The tooltip: rows [name, value] beside what the pointer is on. A row without a name is a sentence.

import { h } from "./dom.js";

const EDGE = 8; // pixels between the tooltip and what is around it

export function createTooltip() {
  const id = `cs-tip-${Math.random().toString(36).slice(2)}`;
  return h("div", { class: "cs-tip", role: "tooltip", id, hidden: true });
}

// Says of an event whether something has come to lie under a pointer that rests: nobody has pointed at it.
export function watchRest() {
  let place = ""; // where the pointer was moved to
  const placeOf = ({ clientX, clientY }) => `${clientX} ${clientY}`;
  document.addEventListener("pointermove", (event) => { place = placeOf(event); }, { capture: true, passive: true });
  return (event) => event.type === "pointerover" && placeOf(event) === place;
}

// Shows rows below a box on the screen, or above it where there is no room below.
export function showTooltip(stage, rows, box) {
  const { tooltip } = stage;
  tooltip.replaceChildren(...rows.map(([name, value]) =>
    h("p", { class: name ? null : "cs-tip-said" }, name ? h("span", { class: "cs-tip-name", text: name }) : null, h("span", { text: value }))));
  tooltip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tooltip;
  const above = box.bottom + height + EDGE + 2 > innerHeight && box.top - height - EDGE > 0;
  tooltip.style.left = `${Math.max(EDGE, Math.min(box.left, innerWidth - width - EDGE))}px`;
  tooltip.style.top = `${above ? box.top - height - EDGE : box.bottom + EDGE}px`;
}

export function hideTooltip(stage) {
  stage.tooltip.hidden = true;
}
