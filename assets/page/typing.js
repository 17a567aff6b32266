// What is typed while the server fills in the form stays, and a prompt that was typed comes back where the page is
// loaded again, by the visitor or because the server restarted.

import { byId } from "./dom.js";
import { hasSettings } from "./query.js";

const TYPED = ["prompt", "max-new", "temperature", "seed", "K"];
const SETTINGS = ["max-new", "temperature", "seed", "k"]; // that an example may bring
const KEPT = "cascade-prompt"; // in sessionStorage, which belongs to the tab: what was typed last
const ASIDE = "cascade-aside"; // the same, once another prompt has raced: the chip of the visitor's prompt brings it back
const BACK = "The page was loaded again. Your prompt is back in the form, with the usual settings.";
const PATIENCE = 2500; // milliseconds that Race waits for the form, where the server is slow

const typed = new Map(); // text by field, since the last `beginFilling`
const setTo = new Map(); // text by field of SETTINGS, as the visitor has typed it last
let own = null; // the prompt as the visitor has typed it last; null while it is not theirs, and once it has raced
let begun = null; // {at, next}: since when the server sets the form up for it, and what waits for that; null if it does not

export function watchTyping() {
  document.addEventListener("input", noteTyping);
  document.addEventListener("focusout", scrollPromptUp);
  for (const event of ["pointerdown", "focusin", "input"]) document.addEventListener(event, unfoldPrompt);
  for (const event of ["input", "focusin", "focusout", "cascade-prompt", "resize"]) window.addEventListener(event, markMore);
}

export function beginFilling() {
  typed.clear();
}

// The values of the fields TYPED, with what was typed meanwhile in place of what the server sent.
export function keepTyped(...values) {
  return values.map((value, i) => {
    if (!typed.has(TYPED[i])) return value;
    const text = typed.get(TYPED[i]);
    if (typeof value === "string") return text;
    return text.trim() === "" ? null : Number(text);
  });
}

// The names of the settings that hold what the visitor has typed there, separated by commas.
export function setByHand() {
  const stands = (id) => setTo.get(id) && setTo.get(id) === document.querySelector(`#${id} input`).value;
  return SETTINGS.filter(stands).map((id) => id.replace("-", "_")).join();
}

// Returns the status line. A link with a query says itself what the form holds.
export function restorePrompt(status) {
  const field = document.querySelector("#prompt textarea");
  const text = sessionStorage.getItem(KEPT);
  if (!text || !text.trim() || hasSettings() || text === field.value) return status;
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true })); // Gradio hears of it by the event
  return `<p>${BACK}</p>`;
}

// A prompt that was typed before another one raced.
export const promptAside = () => sessionStorage.getItem(ASIDE) || "";

// Who types on after a race begins a prompt anew.
export function noteRaced() {
  own = null;
  setAside(document.querySelector("#prompt textarea").value);
  byId("prompt").setAttribute("data-raced", ""); // its field takes no more room than before it was written in
  document.querySelector("#prompt textarea").scrollTop = 0;
  markMore();
}

function setAside(raced) {
  const text = sessionStorage.getItem(KEPT);
  if (!text || !text.trim() || text === raced) return;
  sessionStorage.setItem(ASIDE, text);
  sessionStorage.removeItem(KEPT);
}

// The stage compares its race's prompt with the form's. A field that Gradio fills in says nothing by itself.
export function tellPrompt() {
  if (document.querySelector("#prompt textarea").value !== own) own = null;
  requestAnimationFrame(() => window.dispatchEvent(new Event("cascade-prompt")));
}

function noteTyping({ target }) {
  const id = TYPED.find((name) => target.closest(`#${name}`));
  if (id) typed.set(id, target.value);
  if (SETTINGS.includes(id)) setTo.set(id, target.value);
  if (id === "prompt") noteOwn(target.value);
}

// The server sets the form up for a prompt that the visitor begins to type, unless it is for a puzzle, which is about what the form holds.
function noteOwn(text) {
  sessionStorage.setItem(KEPT, text);
  if (document.querySelector(".puzzles section:not([hidden]) [data-chosen]")) return;
  if (!text.trim()) { // the next letter begins a prompt
    own = null;
    return;
  }
  if (own === null) {
    begun = { at: performance.now(), next: null };
    byId("begin-own").click();
  }
  own = text;
}

// Called when the server begins to set the form up for a prompt that is typed. Returns the settings that stay.
export function beginOwn() {
  beginFilling();
  return setByHand();
}

export function endOwn() {
  const next = begun && begun.next;
  begun = null;
  if (next) next();
}

// Whether `next` is called later, and once: when the form is set up for the prompt that was typed a moment ago.
export function awaitOwn(next) {
  const left = begun ? begun.at + PATIENCE - performance.now() : 0;
  if (left <= 0) return false;
  if (!begun.next) setTimeout(endOwn, left);
  begun.next = next;
  return true;
}

function unfoldPrompt({ target }) {
  if (!target.closest("#prompt") || !byId("prompt").hasAttribute("data-raced")) return;
  byId("prompt").removeAttribute("data-raced");
  markMore();
}

// The prompt out of focus shows its first two lines.
function scrollPromptUp({ target }) {
  if (target.matches("#prompt textarea")) target.scrollTop = 0;
}

// Below them the prompt says how many more there are. One that is typed lies over the rows below it.
function markMore() {
  requestAnimationFrame(() => {
    const field = document.querySelector("#prompt textarea");
    const lines = Math.round((field.scrollHeight - field.clientHeight) / parseFloat(getComputedStyle(field).lineHeight));
    const box = document.querySelector("#prompt");
    const isHigh = field.clientHeight > 1.1 * box.clientHeight;
    document.documentElement.toggleAttribute("data-long-prompt", document.activeElement === field && isHigh);
    const isCut = lines > 0 && (document.activeElement !== field || box.hasAttribute("data-raced"));
    if (isCut) box.dataset.more = `${lines} more line${lines === 1 ? "" : "s"}`;
    else box.removeAttribute("data-more");
  });
}
