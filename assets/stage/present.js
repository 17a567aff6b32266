// Presenting: the stage alone on the screen, in large type.

import { openBridge } from "./bridge.js";
import { presentView } from "./cursors.js";
import { put } from "./dom.js";
import { enter, leave, whenBack } from "./entries.js";
import { pause, showAll } from "./playback.js";
import { tellRefusal } from "./promptline.js";
import { openReview, showLanes } from "./review.js";
import { closeSpeaker, restartClock } from "./speaker.js";
import { forgetSizes, isPlaying } from "./state.js";
import { beginTalk, untold, waitsAtStart } from "./talk.js";

const KEPT = "cascade-presenting"; // in sessionStorage, which belongs to the tab: a page that is loaded again goes on, see assets/page/drawing.js
const SEEN = 3000; // milliseconds that the buttons over the slide are seen after the pointer has moved

export function togglePresent(stage) {
  setPresenting(stage, !stage.presenting);
}

export function leavePresent(stage) {
  setPresenting(stage, false);
}

// Back leaves the review that was opened, or the presented stage.
export function watchBack(stage) {
  whenBack((open) => {
    if (stage.reviewOpen && stage.review.hasEntry && !open.includes("review")) openReview(stage, false);
    if (stage.presenting && !open.includes("present")) leavePresent(stage);
    if (stage.review.isLeft && !stage.reviewOpen && !stage.presenting) requestAnimationFrame(() => showLanes(stage)); // the browser has scrolled to where the page was
    stage.review.isLeft = false;
  });
}

// While presenting, an empty screen until a key or a click: the audience looks at the speaker. A replay waits for them.
export function blank(stage) {
  const { presenting, root } = stage;
  if (!presenting) return;
  const isBlank = root.toggleAttribute("data-blank");
  if (isBlank && isPlaying(stage)) pause(stage);
  if (isBlank) root.addEventListener("pointerdown", () => unblank(root), { once: true });
}

// Returns whether the screen was blank.
export function unblank(root) {
  const wasBlank = root.hasAttribute("data-blank");
  root.removeAttribute("data-blank");
  return wasBlank;
}

// The buttons over the slide come with the pointer, and go when it rests.
export function watchPointer({ root }) {
  let rest = 0;
  root.addEventListener("pointermove", () => {
    root.setAttribute("data-pointer", "");
    clearTimeout(rest);
    rest = setTimeout(() => root.removeAttribute("data-pointer"), SEEN);
  });
}

function keep(on) {
  try {
    if (on) sessionStorage.setItem(KEPT, "");
    else sessionStorage.removeItem(KEPT);
  } catch {
    // storage may be blocked in a frame
  }
}

function setPresenting(stage, on) {
  const { root } = stage;
  const button = stage.transport.present;
  stage.presenting = on;
  stage.talk = untold(stage.raceId, stage.reviewOpen);
  presentView(stage);
  keep(on);
  root.querySelector(".cs-keys").open = false; // they would lie over the slide
  root.toggleAttribute("data-present", on);
  root.removeAttribute("data-pressed");
  root.toggleAttribute("data-resting", on); // until it is moved, the pointer lies where Present was pressed, over a word
  if (on) document.addEventListener("pointermove", () => root.removeAttribute("data-resting"), { once: true, passive: true });
  if (on) root.removeAttribute("data-refused"); // the talk is about the race that it shows
  document.documentElement.classList.toggle("cs-presenting", on);
  put(button, on ? "Leave" : "Present");
  if (on) {
    enter("present");
    stage.scrolledTo = scrollY;
    restartClock(stage);
    openBridge(stage);
    root.focus({ preventScroll: true });
  }
  else {
    openReview(stage, false);
    closeSpeaker(stage);
    leave("present");
    if (isPlaying(stage) || waitsAtStart(stage)) showAll(stage); // else the page would show a race in mid-play
    tellRefusal(stage, "");
    root.removeAttribute("data-blank");
    button.focus({ preventScroll: true }); // the stage itself would keep a frame around it
    scrollTo(0, stage.scrolledTo); // an opened review has moved the page behind it
  }
  forgetSizes(stage);
  if (!stage.race.open) return;
  stage.draw();
  if (on) beginTalk(stage);
}
