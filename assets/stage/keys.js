// The keyboard.

import { askForExample, askForLoss, askForRace, askForTour } from "./bridge.js";
import { cycleView } from "./cursors.js";
import { h } from "./dom.js";
import { cycleRejected, toggleDigits } from "./legend.js";
import { changeSpeed, jump, selectLane, skip, stepReview, stepToken, togglePlay } from "./playback.js";
import { blank, leavePresent, togglePresent, unblank } from "./present.js";
import { openPromptField } from "./promptfield.js";
import { openReview, toggleReview } from "./review.js";
import { stepRound } from "./rounds.js";
import { openSpeaker } from "./speaker.js";
import { isPlaying, selectedStep } from "./state.js";
import { beginAgain, goBack, goOn, goToEnd, hideHint, waitsAtStart } from "./talk.js";
import { zoom } from "./timeline.js";
import { hideTooltip } from "./tooltip.js";

const HELP = [
  ["space", "play"], ["\u2190 \u2192", "step"], ["shift \u2190 \u2192", "token"], [", .", "move of the step"],
  ["Home End", "start, end"], ["< >", "speed"], ["1 \u2026 4", "lane"], ["+ \u2212", "zoom"], ["v", "one text or columns"],
  ["/", "type a prompt"], ["d", "digits"], ["h", "rejected"], ["o", "look inside"], ["p", "present"], ["b", "blank"], ["g", "tour"], ["Esc", "leave"], ["?", "these keys"],
];
const PRESENTING = [["page down", "go on"], ["page up", "back"], ["s", "speaker\u2019s notes"], ["r", "race"], ["e", "next example"], ["l", "make it lose"]];
const IN_A_TALK = ["space", "Home End", "/", "o", "b", "Esc"]; // of HELP; a talk has no use for the others
// What has arrow keys and letters of its own.
const TAKES_KEYS = 'input, textarea, select, [contenteditable], [role="tab"], [role="listbox"], [role="slider"], [role="dialog"]';
const ACTIONS = {
  " ": togglePlay,
  ArrowLeft: (stage, { shiftKey }) => (shiftKey ? stepToken : stepReview)(stage, -1),
  ArrowRight: (stage, { shiftKey }) => (shiftKey ? stepToken : isTold(stage) ? goOn : stepReview)(stage, 1),
  Home: (stage) => jump(stage, 0),
  End: (stage) => jump(stage, Infinity),
  ",": (stage) => goRound(stage, -1),
  ".": (stage) => goRound(stage, 1),
  "<": (stage) => changeSpeed(stage, -1),
  ">": (stage) => changeSpeed(stage, 1),
  "+": (stage) => zoom(stage, 0.5),
  "=": (stage) => zoom(stage, 0.5),
  "-": (stage) => zoom(stage, 2),
  "/": openPromptField,
  "?": showKeys,
  b: blank,
  d: toggleDigits,
  e: (stage) => stage.presenting && askForExample(stage),
  g: () => askForTour(),
  h: cycleRejected,
  l: (stage) => stage.presenting && askForLoss(), // on the page it would take the place of a race that somebody looks at
  o: toggleReview,
  p: togglePresent,
  r: (stage) => stage.presenting && askForRace(),
  s: (stage) => stage.presenting && openSpeaker(stage),
  v: cycleView,
  Escape: leave,
};

// What a clicker has, whose keys scroll the page elsewhere; and a talk begins again as on each of its slides.
const OF_A_TALK = { PageUp: goBack, PageDown: goOn, Home: beginAgain, End: goToEnd };

// Names the keys, for those who ask.
export function createKeysHelp() {
  const tell = (className, [key, what]) => h("span", { class: className }, h("kbd", { text: key }), ` ${what}`);
  return h("details", { class: "cs-keys" }, h("summary", { text: "Keyboard" }),
    h("p", {}, ...HELP.map((entry) => tell(IN_A_TALK.includes(entry[0]) ? null : "cs-keys-of-page", entry)), h("span", { class: "cs-keys-presenting", text: "while presenting:" }),
      ...PRESENTING.map((entry) => tell("cs-keys-first", entry))));
}

// Keys work while the stage has the focus, and elsewhere on the page while the stage is in view and nothing else takes
// them; while it is presented, wherever the focus is.
export function listenToKeys(stage) {
  stage.root.addEventListener("keydown", (event) => press(stage, event));
  document.addEventListener("keydown", (event) => {
    if (stage.root.contains(event.target)) return;
    if (stage.presenting || (isInView(stage.root) && !event.target.closest(TAKES_KEYS))) press(stage, event);
  });
}

// Whether the stage can be seen, and lies under no dialog.
function isInView(root) {
  const { top, bottom, height } = root.getBoundingClientRect();
  const dialog = document.querySelector("dialog[open]");
  return height > 0 && top < innerHeight / 2 && bottom > innerHeight / 2 && (!dialog || dialog.contains(root));
}

function press(stage, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !(stage.race.open || event.key === "p")) return;
  if (stage.root.querySelector(":popover-open")) return; // it has the keys, and closes with Escape
  if (unblank(stage.root)) return void event.preventDefault(); // any key; what goes on behind an empty screen is a surprise
  const action = isTaken(event) ? null : actionOf(stage, event.key);
  if (!action) return;
  if (!["?", "Escape"].includes(event.key)) closeKeys(stage);
  event.preventDefault();
  hideHint(stage);
  hideTooltip(stage);
  action(stage, event);
}

// Whether the key belongs to the element that has the focus.
function isTaken({ target, key }) {
  const tag = target.tagName;
  if (tag === "TEXTAREA" || tag === "SELECT" || (tag === "INPUT" && target.type !== "range")) return true;
  return tag === "BUTTON" && (key === " " || key === "Enter");
}

function actionOf(stage, key) {
  const view = /^[1-9]$/.test(key) && stage.views[key - 1];
  if (view) return () => selectLane(stage, view);
  const actions = stage.presenting ? { ...ACTIONS, ...OF_A_TALK } : ACTIONS;
  return Object.hasOwn(actions, key) ? actions[key] : null;
}

export function showKeys({ root }) {
  const keys = root.querySelector(".cs-keys");
  keys.open = !keys.open;
  keys.toggleAttribute("data-over", keys.open); // over the page, which stays where it is
}

// What lies over the stage has been read.
function closeKeys(stage) {
  const keys = stage.root.querySelector(".cs-keys");
  if (keys.open && keys.hasAttribute("data-over")) showKeys(stage);
}

// Whether the presented race tells itself: from its start the arrow plays it, then leads to its end, and from there into the talk.
// From the last step that is looked into it leads on, too.
function isTold(stage) {
  if (stage.reviewOpen) return stage.presenting && selectedStep(stage) === stage.view.lane.steps.at(-1);
  return stage.presenting && (stage.time === Infinity || waitsAtStart(stage) || isPlaying(stage));
}

function goRound(stage, by) {
  if (!stage.review.score) openReview(stage, true);
  stepRound(stage, by);
}

function leave(stage, { target }) {
  const keys = stage.root.querySelector(".cs-keys");
  if ((stage.presenting || keys.hasAttribute("data-over")) && keys.open) showKeys(stage);
  else if (stage.reviewOpen) closeReview(stage);
  else if (stage.presenting) leavePresent(stage);
  else if (isPlaying(stage)) skip(stage);
  else if (stage.root.contains(target)) jump(stage, Infinity); // from a step to the whole race
}

// A click on a word opens it at the word's step, which nobody has gone to.
function closeReview(stage) {
  openReview(stage, false);
  if (stage.token !== null && !stage.presenting) jump(stage, Infinity);
}
