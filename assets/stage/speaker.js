// The speaker's window, for a screen that the hall does not see: what to say on this slide, what comes next, and a clock. Its keys
// and buttons are those of the talk.

import { button, h, put } from "./dom.js";
import { tellRefusal } from "./promptline.js";

const TITLE = "Speaker\u2019s notes";
const BLOCKED = "The browser blocked the window with the notes. Allow pop-ups for this page, and press S again.";
const SIZE = "popup,width=760,height=620";
const STYLE = `
  :root { color-scheme: light dark; font: 21px/1.42 var(--cs-font, system-ui, sans-serif); }
  body { display: flex; flex-direction: column; gap: 14px; box-sizing: border-box; height: 100vh; margin: 0; padding: 20px 28px; }
  header, footer { display: flex; align-items: center; gap: 16px; }
  header { padding-bottom: 12px; border-bottom: 1px solid color-mix(in srgb, CanvasText 18%, Canvas); }
  header span, footer span { margin-right: auto; color: color-mix(in srgb, CanvasText 70%, Canvas); }
  header b { font-size: 40px; line-height: 1; font-variant-numeric: tabular-nums; }
  h1 { margin: 0 0 16px; font-size: 28px; line-height: 1.2; }
  p { margin: 0 0 10px; }
  main { flex: 1; min-height: 0; overflow-y: auto; }
  button { padding: 8px 16px; border: 1px solid color-mix(in srgb, CanvasText 35%, Canvas); border-radius: 8px; background: none; color: inherit; font: inherit; font-size: 18px; white-space: nowrap; }
  button:disabled { opacity: 0.4; }
  footer button:last-child { border-color: CanvasText; background: CanvasText; color: Canvas; font-weight: 600; }
`;
const OWN_KEYS = ["Tab", "Enter", " "]; // of the buttons in the window

export function createSpeaker() {
  return {
    window: null, // while it is open
    note: null, // what is told now: its place and title, what to say, and what comes next
    parts: null, // of the window
    since: 0, // when the talk began, in milliseconds; also while no window is open
    ticking: 0, // the timer of the clock
  };
}

// `note` is {place, title, say, until, next}; `say` has a paragraph each, and the slide is to be left when the clock is at `until`.
export function tellSpeaker({ speaker }, note) {
  speaker.note = note;
  if (speaker.window) drawNote(speaker);
}

export function openSpeaker(stage) {
  const { speaker } = stage;
  if (speaker.window && !speaker.window.closed) return void speaker.window.focus();
  speaker.window = window.open("", "cascade-speaker", SIZE);
  tellRefusal(stage, speaker.window ? "" : BLOCKED);
  if (!speaker.window) return;
  build(stage);
  runClock(speaker);
  if (speaker.note) drawNote(speaker);
  window.addEventListener("pagehide", () => closeSpeaker(stage), { once: true });
}

export function closeSpeaker({ speaker }) {
  clearInterval(speaker.ticking);
  speaker.window?.close();
  speaker.window = null;
}

export function restartClock({ speaker }) {
  speaker.since = Date.now();
  if (speaker.window) runClock(speaker);
}

function runClock(speaker) {
  clearInterval(speaker.ticking);
  speaker.ticking = setInterval(drawClock, 500, speaker);
  drawClock(speaker);
}

function build(stage) {
  const { speaker } = stage;
  const { document: other } = speaker.window;
  const [clock, place, title, said, next] = ["b", "span", "h1", "div", "span"].map((tag) => h(tag));
  const onward = button("", "Next \u2192", { onclick: () => pass("PageDown") });
  speaker.parts = { clock, place, title, said, next, onward };
  other.title = TITLE;
  other.head.replaceChildren(h("style", { text: [...typefaceRules(), STYLE].join("\n") }));
  other.body.replaceChildren(
    h("header", {}, clock, place, button("", "Restart the clock", { onclick: () => restartClock(stage) })),
    h("main", {}, title, said),
    h("footer", {}, next, button("", "\u2190 Back", { onclick: () => pass("PageUp") }), onward));
  other.addEventListener("keydown", (event) => {
    if (OWN_KEYS.includes(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    pass(event.key);
  });
}

// The rules that embed the page's typeface: a window of its own has none of the page's style.
function typefaceRules() {
  const own = [...document.styleSheets].filter(({ href }) => !href || new URL(href).origin === location.origin); // others cannot be read
  const rules = own.flatMap((sheet) => [...sheet.cssRules]);
  const faces = rules.filter((rule) => rule instanceof CSSFontFaceRule).map((rule) => rule.cssText);
  const family = getComputedStyle(document.documentElement).getPropertyValue("--cs-font");
  return [...faces, family && `:root { --cs-font: ${family}; }`];
}

// A key that is pressed here does what it does on the slide.
function pass(key) {
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

function drawNote({ note: { place, title, say, until, next }, parts }) {
  put(parts.place, [place, until && `until ${until}`].filter(Boolean).join(" \u00B7 "));
  put(parts.title, title);
  parts.said.replaceChildren(...say.filter(Boolean).map((text) => h("p", { text })));
  put(parts.next, next && `Next: ${next}`);
  parts.onward.disabled = !next;
}

function drawClock(speaker) {
  if (speaker.window.closed) return void clearInterval(speaker.ticking);
  const seconds = Math.floor((Date.now() - speaker.since) / 1000);
  put(speaker.parts.clock, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
}
