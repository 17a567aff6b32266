// The page's first replay begins with two lanes, the big model alone and the lane that the race is about, until that one is done; the
// others wait, pale. Its first step takes as long as one needs to see what a step is.

import { hasOthersToCome, isPlaying } from "./state.js";

export function showOpening(stage) {
  stage.root.toggleAttribute("data-opening", isPlaying(stage) && hasOthersToCome(stage));
}
