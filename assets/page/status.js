// The lines on the race and on the family. One on a race that does not fit is set in as many lines as it needs; of one on
// the family the whole is the title, and unfolds where it has the focus.

import { byId, press, stage } from "./dom.js";

const SHORT = 0.6; // of the line: a message that leaves room for a prompt
const SHORT_WAIT = 1; // seconds that a race waits at times though there is none before it

export function watchStatus() {
  byId("status").setAttribute("aria-live", "polite");
  for (const kind of ["pointerdown", "keydown", "input"]) document.addEventListener(kind, noteRead);
  let told = "";
  watchLine(byId("status"), (line, box) => {
    if (line.textContent !== told) byId("lines").removeAttribute("data-read"); // until the visitor does something again
    told = line.textContent;
    shareLine(line);
    const waiting = tellWaiting((box.querySelector(".progress-text") || {}).textContent || "");
    if (waiting && line.textContent !== waiting) line.textContent = waiting;
    makeRoom(line);
  });
  watchLine(byId("family-status"), unfold);
  document.addEventListener("input", clearRefusal);
  byId("status").addEventListener("click", ({ target }) => press(target.dataset.press));
}

// A message has been read once the visitor does something outside it.
function noteRead({ target }) {
  if (!byId("status").contains(target)) byId("lines").setAttribute("data-read", "");
}

// The prompt of the race on the stage stands in the same line, behind a message that leaves room for it.
function shareLine(line) {
  const range = document.createRange();
  range.selectNodeContents(line);
  const width = line.textContent && !line.hasAttribute("data-spoken") ? range.getBoundingClientRect().width : 0;
  const isLong = width > SHORT * line.clientWidth;
  byId("lines").toggleAttribute("data-long", isLong);
  document.documentElement.style.setProperty("--page-said", isLong || !width ? "0px" : `${Math.ceil(width) + 24}px`);
}

// What was refused is being changed.
function clearRefusal({ target }) {
  const line = byId("status").querySelector('p[data-state="refused"]');
  if (!line || !target.closest("#prompt, #advanced")) return;
  line.textContent = "";
  line.removeAttribute("data-state");
  stage().wait(false);
}

function watchLine(box, follow) {
  const look = () => {
    const line = box.querySelector("p");
    if (line) follow(line, box);
  };
  new MutationObserver(look).observe(box, { subtree: true, childList: true, characterData: true });
  new ResizeObserver(look).observe(box);
  look();
}

const isCut = (line) => line.scrollWidth > line.clientWidth || line.scrollHeight > line.clientHeight + 1;

function makeRoom(line) {
  line.removeAttribute("data-room");
  if (line.hasAttribute("data-spoken")) return;
  for (const room of ["two", "whole"]) if (isCut(line)) line.dataset.room = room;
}

function unfold(line) {
  if (line.title !== line.textContent) line.title = line.textContent;
  if (isCut(line) && !line.hasAttribute("data-spoken")) line.tabIndex = 0;
  else line.removeAttribute("tabindex");
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
