// The page's first replay begins with two lanes, the big model alone and the lane that the race is about, until that one is done. Its
// first step takes as long as one needs to see what a step is; after its last the other lanes come in between.

import { hasOthersToCome, isOpening, isPlaying } from "./state.js";

// While it lasts, the stage shows less.
export function showOpening(stage) {
  const isOpen = isPlaying(stage) && hasOthersToCome(stage);
  stage.root.toggleAttribute("data-opening", isOpen);
  if (isOpen) stage.root.style.setProperty("--cs-folded", `${foldedHeight(stage)}px`);
}

// The room of the lanes that are not seen yet, between the first lane and the one that the race is about.
function foldedHeight({ track, view }) {
  const { box } = track.rows.find((row) => row.view === view);
  return Math.max(0, box.offsetTop - (track.rows[1] ?? track.rows[0]).box.offsetTop);
}

// How the first step is shown; nothing once it is over. The clock beside the replay tells the rest.
export function tellOpeningPace(stage) {
  return isPlaying(stage) && isOpening(stage) ? "slow motion" : "";
}
