// What a race came to in figures: its curves, and where the time went. On a phone they are folded away at first.

import { h } from "./dom.js";

const NARROW = "(max-width: 700px)"; // as in style/windows.css, where the summary is in view

export function createFigures(stage, ...figures) {
  const box = h("details", { class: "cs-after" }, h("summary", { text: "Speed and time in figures" }), h("div", { class: "cs-figures" }, ...figures));
  const narrow = matchMedia(NARROW);
  const fold = () => { box.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  box.addEventListener("toggle", () => {
    stage.plot.width = 0; // it is as wide as what it stands in
    if (box.open && stage.race.open) stage.draw();
  });
  fold();
  return box;
}
