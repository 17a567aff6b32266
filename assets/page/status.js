// The status line: one line; what does not fit is its title, and unfolds where it has the focus.

import { byId } from "./dom.js";

const SHORT_WAIT = 1; // seconds that a race waits at times though there is none before it

export function watchStatus() {
  const status = byId("status");
  status.setAttribute("aria-live", "polite");
  const follow = () => {
    const line = status.querySelector("p");
    if (!line) return;
    const waiting = tellWaiting((status.querySelector(".progress-text") || {}).textContent || "");
    if (waiting && line.textContent !== waiting) line.textContent = waiting;
    if (line.title !== line.textContent) line.title = line.textContent;
    line.toggleAttribute("tabindex", line.scrollWidth > line.clientWidth);
    if (line.hasAttribute("tabindex")) line.tabIndex = 0;
  };
  new MutationObserver(follow).observe(status, { subtree: true, childList: true, characterData: true });
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
