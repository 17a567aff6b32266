// The step that is looked into is kept in the tab: a page that is loaded again shows it once its race has come.

import { goTo } from "./playback.js";
import { openReview } from "./review.js";
import { selectedStep } from "./state.js";

const KEPT = "cascade-step"; // in sessionStorage, which belongs to the tab

// What was looked into when the page was loaded: [race, lane, step], or nothing.
export function keptStep() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT));
    return Array.isArray(kept) ? kept : [];
  } catch {
    return []; // storage may be blocked in a frame, or hold something else
  }
}

// Called whenever the stage is drawn.
export function keepStep(stage) {
  const { raceId, view, reviewOpen, presenting, lasts, early } = stage;
  if (lasts || early || presenting) return;
  const step = reviewOpen && selectedStep(stage);
  const place = step ? JSON.stringify([raceId, view.lane.index + 1, step.number]) : "";
  if (place === stage.placeKept) return;
  stage.placeKept = place;
  try {
    if (place) sessionStorage.setItem(KEPT, place);
    else sessionStorage.removeItem(KEPT);
  } catch {
    // the page forgets it
  }
}

// Called when a race has come to the stage. Returns whether its step is shown.
export function returnToStep(stage) {
  const [race, lane, step] = stage.returnsTo;
  if (!race || race !== stage.raceId || !goTo(stage, lane, step)) return false;
  stage.returnsTo = [];
  openReview(stage, true);
  return true;
}
