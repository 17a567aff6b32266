// The controls of the replay: to play, and to go from step to step and from token to token.

import { commonStart } from "./alignment.js";
import { askForLink, hasLink } from "./bridge.js";
import { button, h, iconButton, iconImage, iconPath, iconShape, put } from "./dom.js";
import { formatPosition } from "./format.js";
import { showKeys } from "./keys.js";
import { createLinkNote } from "./linknote.js";
import { jump, scrub, setSpeed, stepReview, stepToken, togglePlay } from "./playback.js";
import { blank, togglePresent } from "./present.js";
import { canOpen, toggleReview } from "./review.js";
import { openSpeaker } from "./speaker.js";
import { sayReview } from "./speech.js";
import { createOnward, drawOnward } from "./talk.js";
import { speedInWords, usualSpeed } from "./pace.js";
import { SPEEDS, canReplay, isPlaying, remembered, selectedStep } from "./state.js";
import { shownTime, totalTime } from "./state.js";

const TICKS = 10000; // of the scrubber
const [LOOK, CLOSE] = ["Look inside ", "All lanes "];
const [LINK, LINKED] = ["Copy link", "Copied"];
const SEEN = 1500; // milliseconds that a copied link is told

export function createTransport(stage) {
  const transport = {
    ...createPlayButton(stage),
    scrubber: createScrubber(stage),
    time: h("span", { class: "cs-time", title: "Since the prompt was read, as at the ends of the bars" }),
    speed: createSpeedBox(stage),
    review: button("cs-link cs-place", "", { title: "One run of the big model, with all that led to it. Click to go to a step by its number.", onclick: () => askForStep(stage) }),
    token: h("span", { class: "cs-place" }),
    present: button("cs-button cs-presenter", "Present", {
      title: "Full screen with large type (p); Escape leaves", onclick: () => togglePresent(stage),
    }),
    look: keyButton(LOOK, "o", "The step level by level, in place of the lanes, and back", () => toggleReview(stage)),
    link: button("cs-button cs-copy-link", LINK, { title: "A link to this race, at this step", onclick: askForLink, hidden: !stage.early && !hasLink() }),
    blank: keyButton("Blank ", "b", "An empty screen, until a key or a click", () => blank(stage)),
    notes: keyButton("Notes ", "s", "What to say, in a window of its own", () => openSpeaker(stage)),
    keys: keyButton("Keys ", "?", "What the keys do", () => showKeys(stage)),
    onward: createOnward(stage),
    enabled: null, // whether the controls work
  };
  transport.look.classList.add("cs-look");
  transport.blank.classList.add("cs-blank");
  for (const one of [transport.notes, transport.keys]) one.classList.add("cs-ask-keys");
  transport.box = h("div", { class: "cs-transport", role: "group", "aria-label": "Replay" },
    ...createPlayControls(stage, transport), ...createSteppers(stage, transport),
    transport.look, transport.link, createLinkNote(transport.link), transport.blank, transport.notes, transport.keys, transport.present, transport.onward);
  window.addEventListener("cascade-linked", () => tellLinked(transport));
  transport.speedRow = h("p", { class: "cs-choice-name" }, h("span", { text: "replay speed" }), transport.speed); // in the view menu
  return transport;
}

function tellLinked({ link }) {
  put(link, LINKED);
  setTimeout(() => put(link, LINK), SEEN);
}

export function clearTransport(stage) {
  const { scrubber, time, review, token } = stage.transport;
  for (const node of [time, review, token]) put(node, "");
  scrubber.value = String(TICKS);
  enableTransport(stage);
}

// The controls work once there is something to replay.
export function enableTransport(stage) {
  const { transport } = stage;
  const enabled = canReplay(stage);
  if (transport.enabled === enabled) return;
  transport.enabled = enabled;
  for (const node of transport.box.querySelectorAll(".cs-button, input, select")) {
    node.disabled = !enabled && ![transport.present, transport.look, transport.blank, transport.notes, transport.keys].includes(node);
  }
  transport.review.disabled = !enabled;
  transport.speed.title = `Replay speed (< >)${enabled ? `; auto is ${speedInWords(usualSpeed(stage.race))}` : ""}`;
}

export function drawTransport(stage) {
  if (!stage.view) return;
  enableTransport(stage);
  drawPlayButton(stage);
  drawOnward(stage);
  if (stage.transport.enabled) drawPosition(stage);
  const { transport, view: { lane, shown } } = stage;
  const step = selectedStep(stage);
  transport.speed.value = stage.speed;
  put(transport.look.firstChild, stage.reviewOpen ? CLOSE : LOOK);
  transport.look.disabled = !stage.reviewOpen && !canOpen(stage);
  const told = reviewedStep(stage) || step;
  put(transport.review, placeInWords(told ? told.number : shown, lane.steps.length, stage));
  stage.root.toggleAttribute("data-token", stage.token !== null);
  put(transport.token, stage.token === null ? "" : `token ${stage.token + 1}`);
}

// The result comes into sight where the button is far below it, as on a phone.
function goToResult(stage) {
  jump(stage, Infinity);
  const { box } = stage.headline;
  if (box.getBoundingClientRect().top < 0) box.scrollIntoView({ block: "start" });
}

// At the end of a race no step is the one that is looked at; the button asks for one.
function placeInWords(number, count, { time, token, reviewOpen }) {
  if (time === Infinity && token === null && !reviewOpen) return count === 1 ? "1 step" : "go to step";
  return `step ${number} of ${count}`;
}

// A field for the number of a step, in the place of the words, until it is left.
function askForStep(stage) {
  const { transport: { review }, view: { lane: { steps }, shown } } = stage;
  const field = h("input", { type: "number", class: "cs-step-field", min: 1, max: steps.length, value: Math.max(1, shown), "aria-label": `Step, 1 to ${steps.length}` });
  const leave = () => field.replaceWith(review);
  const go = () => {
    const step = steps[Math.round(Number(field.value)) - 1];
    if (step) jump(stage, step.until);
    return Boolean(step);
  };
  const refuse = () => {
    field.setCustomValidity(steps.length === 1 ? "This lane has one step." : `This lane has steps 1 to ${steps.length}.`);
    field.reportValidity();
  };
  field.addEventListener("input", () => field.setCustomValidity(""));
  field.addEventListener("change", go);
  field.addEventListener("blur", leave);
  field.addEventListener("keydown", (event) => {
    const { key } = event;
    event.stopPropagation(); // the stage has keys of its own
    if (key === "Escape" || (key === "Enter" && go())) stage.root.focus({ preventScroll: true });
    else if (key === "Enter") refuse();
  });
  review.replaceWith(field);
  field.select();
}

// While the replay plays, the review is drawn less often: the step that it shows, so that both name the same one.
function reviewedStep(stage) {
  const { review, view, presenting, reviewOpen } = stage;
  const isShown = isPlaying(stage) && review.inSight && review.lane === view.lane && (!presenting || reviewOpen);
  return isShown ? review.step : null;
}

function keyButton(text, key, title, onclick) {
  const node = button("cs-button", text, { title: `${title} (${key})`, onclick });
  node.append(h("kbd", { text: key }));
  return node;
}

function drawPlayButton(stage) {
  const { playIcon, playLabel } = stage.transport;
  const isMoving = isPlaying(stage);
  const label = isMoving ? "Pause" : stage.mode === "replay" ? "Play" : "Replay";
  if (playLabel.textContent === label) return;
  put(playLabel, label);
  playIcon.setAttribute("d", iconShape(isMoving ? "pause" : "play"));
}

function drawPosition(stage) {
  const { scrubber, time } = stage.transport;
  const total = totalTime(stage);
  const now = shownTime(stage);
  const value = String(Math.round((now / total) * TICKS));
  put(time, formatPosition(now, total, commonStart(stage.race)));
  if (scrubber.value !== value) scrubber.value = value;
  if (!isPlaying(stage)) scrubber.setAttribute("aria-valuetext", time.textContent);
}

function createPlayButton(stage) {
  const playIcon = iconPath("play");
  const playLabel = h("span", { text: "Replay" });
  const attributes = { class: "cs-button cs-replay", title: "Play or pause (space)", onclick: () => togglePlay(stage) };
  return { playIcon, playLabel, play: h("button", { type: "button", ...attributes }, iconImage(playIcon), playLabel) };
}

function createScrubber(stage) {
  const scrubber = h("input", {
    type: "range", class: "cs-scrubber", min: "0", max: TICKS, step: "1", value: TICKS,
    "aria-label": "Position in the replay",
    oninput: () => scrub(stage, (Number(scrubber.value) / TICKS) * totalTime(stage)),
    onchange: () => sayReview(stage),
  });
  return scrubber;
}

function createSpeedBox(stage) {
  const label = "Replay speed";
  const options = SPEEDS.map((value) => h("option", { value, text: value === "auto" ? "auto" : speedInWords(Number(value)) }));
  const attributes = { class: "cs-speedbox", "aria-label": label, title: `${label} (< >)` };
  const box = h("select", { ...attributes, onchange: () => setSpeed(stage, box.value) }, ...options);
  stage.speed = remembered("cascade-speed", SPEEDS);
  box.value = stage.speed;
  return box;
}

function createPlayControls(stage, { play, scrubber, time }) {
  const skip = iconButton("end", "Result: jump to the end", "End", () => goToResult(stage));
  skip.classList.add("cs-skip");
  skip.append(h("span", { text: "Result" }));
  return [play, skip, scrubber, time];
}

function createSteppers(stage, { review, token }) {
  return [
    h("span", { class: "cs-stepper" },
      iconButton("previous", "Previous step", "left arrow", () => stepReview(stage, -1)), review,
      iconButton("next", "Next step", "right arrow", () => stepReview(stage, 1))),
    h("span", { class: "cs-stepper cs-token-stepper" },
      iconButton("previous", "Previous token", "Shift and left arrow", () => stepToken(stage, -1)), token,
      iconButton("next", "Next token", "Shift and right arrow", () => stepToken(stage, 1))),
  ];
}
