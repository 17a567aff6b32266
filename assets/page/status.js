// The lines on the race and on the family. What does not fit is the line's title, and unfolds where it has the focus.

import { byId } from "./dom.js";

const SHORT_WAIT = 1; // seconds that a race waits at times though there is none before it

export function watchStatus() {
  byId("status").setAttribute("aria-live", "polite");
  watchLine(byId("status"), tellWaiting);
  watchLine(byId("family-status"), () => ""); // a family waits for no race
}

function watchLine(box, tell) {
  const follow = () => {
    const line = box.querySelector("p");
    if (!line) return;
    const waiting = tell((box.querySelector(".progress-text") || {}).textContent || "");
    if (waiting && line.textContent !== waiting) line.textContent = waiting;
    if (line.title !== line.textContent) line.title = line.textContent;
    const isCut = line.scrollWidth > line.clientWidth || line.scrollHeight > line.clientHeight + 1;
    line.toggleAttribute("tabindex", isCut);
    if (isCut) line.tabIndex = 0;
  };
  new MutationObserver(follow).observe(box, { subtree: true, childList: true, characterData: true });
  follow();
}

const STEP = 5; // seconds, so that a screen reader is not told every one of them

// Gradio tells a race that waits "queue: 1/1 | 0.9/6.8s": its place, the seconds since, and those that it will take in
// all, of which the page tells the rest.
export function tellWaiting(told) {
  const [, place] = /queue: (\d+)/.exec(told) || [];
  const [, since, seconds] = /([\d.]+)(?:\/([\d.]+))?s$/.exec(told.trim()) || [];
  if (!place || Number(since || 0) < SHORT_WAIT) return "";
  const before = Number(place) === 1 ? "1 race" : `${place} races`;
  const left = STEP * Math.ceil((seconds - since) / STEP);
  return `Waiting: ${before} before yours${left > 0 ? `, about ${left} s` : ""}.`;
}
