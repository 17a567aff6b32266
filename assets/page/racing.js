// A race: from the press of Race, or of an example's chip, or the stage's wish for one, to its end.

import { enterRace, leaveRace } from "./address.js";
import { keepVisitor } from "./comeback.js";
import { byId, stage, stageRoot } from "./dom.js";
import { hasFault, tellRefusal } from "./numbers.js";
import { close } from "./panels.js";
import { openField, reveal } from "./sections.js";
import { awaitOwn, noteRaced, setByHand, tellPrompt } from "./typing.js";

const RUNNING = "Your race is still running. Stop it, or wait for its end, before the next one.";
const REFUSED = 1500; // milliseconds after which a race has been refused, if it is
const SETTLED = 600; // milliseconds after which Stop, in the place of Race, takes its focus
const STARTING = "<p>Starting.</p>";
const CHIP = "Races an example of this kind, with its own length and temperature. What you have set yourself stays.";

const FILLED = 5000; // milliseconds that an example takes at most to fill in the form
const SPARED = 1500; // milliseconds after the press of a chip in which a click on Stop was meant for Race

let chosenAt = -Infinity; // when a chip was pressed

const isRacing = () => byId("go").hasAttribute("data-racing");
const isFilling = () => performance.now() - Number(byId("examples").dataset.filling ?? -Infinity) < FILLED;

export function takeRaces() {
  byId("examples").title = CHIP;
  byId("race").title = "Race (Enter in the prompt; Shift+Enter begins a line)";
  for (const kind of ["keydown", "keypress"]) window.addEventListener(kind, raceByKey, { capture: true });
  window.addEventListener("keydown", pressOnce, { capture: true });
  window.addEventListener("click", awaitForm, { capture: true });
  window.addEventListener("click", guardChips, { capture: true });
  window.addEventListener("click", guardHome, { capture: true });
  window.addEventListener("click", spareRace, { capture: true });
  window.addEventListener("click", noteStop, { capture: true });
  window.addEventListener("cascade-race", raceForStage);
  window.addEventListener("cascade-lose", raceForTour);
  window.addEventListener("cascade-stop", () => byId("stop").click());
}

// Race and Stop take each other's place and focus: a key that is held down presses only the one it began on.
function pressOnce(event) {
  if (event.repeat && ["Enter", " "].includes(event.key) && event.target.closest("#race, #stop")) event.preventDefault();
}

// A prompt that is pasted and raced at once may bring other models along: the race waits until the form has them. Nor does a press
// begin a race while an example fills in the form, which then races by itself.
function awaitForm(event) {
  if (!event.target.closest("#race")) return;
  if ((event.isTrusted && isFilling()) || awaitOwn(() => byId("race").click())) event.stopImmediatePropagation();
}

// A chip fills in its example and presses Race. Until that race begins no other chip is taken, and while it runs a chip
// is refused as Race itself is. Where a prompt that is being typed may bring other models, and their chips, it waits for them.
function guardChips(event) {
  const chip = event.target.closest("#examples button");
  if (!chip) return;
  const name = chip.textContent;
  if (!isRacing() && awaitOwn(() => chipNamed(name)?.click())) return void event.stopImmediatePropagation();
  if (!isRacing() && !isFilling()) {
    chosenAt = performance.now();
    if (chip.id === "lose") reveal("temperature"); // which it sets
    return void byId("examples").setAttribute("data-filling", performance.now());
  }
  chip.blur(); // it is not the one that races
  if (isRacing()) byId("race").click();
  event.stopImmediatePropagation();
}

// The second click of a double click on Race comes when Stop has taken its place, and so does that of who chooses an example and then
// presses Race, not knowing that it races by itself.
function spareRace(event) {
  const isMeant = event.detail <= 1 && (!event.isTrusted || performance.now() - chosenAt > SPARED);
  if (!isMeant && event.target.closest("#stop")) event.stopImmediatePropagation();
}

// Who stops a race is not shown it once more, not even one that has just ended.
function noteStop({ target }) {
  if (target.closest("#stop")) stageRoot().setAttribute("data-stopped", "");
}

// While a race runs, its models stay.
function guardHome(event) {
  if (!isRacing() || !event.target.closest("#back-home")) return;
  byId("race").click();
  event.stopImmediatePropagation();
}

// Enter races, and Shift+Enter begins a line, for which Gradio has another use, at keypress; on a touch screen Enter begins
// one.
function raceByKey(event) {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches("#prompt textarea")) return;
  event.stopImmediatePropagation();
  const isMeant = event.ctrlKey || event.metaKey || !matchMedia("(pointer: coarse)").matches;
  if (event.shiftKey || !isMeant) return;
  event.preventDefault();
  if (!event.repeat && !isFilling()) byId("race").click();
}

// The example comes under a stage that waits: no race of before is seen with another prompt. Returns the status line, and
// the fields that the example leaves alone.
export function beginExample() {
  awaitRace();
  return [STARTING, setByHand()];
}

export function endExample() {
  byId("examples").removeAttribute("data-filling");
  stage().wait(false);
  tellPrompt();
}

// The drawer gives way to the stage, unless one of its fields says what is wrong, and the status line comes into view with it
// where the window is too small. Returns the status line. While a race runs there is no other one to begin: Gradio takes only one at a time.
export function beginRace() {
  if (isRacing()) {
    close("more"); // it may cover Stop, and what is said here
    return `<p>${RUNNING}</p>`;
  }
  if (hasFault()) setTimeout(() => isRacing() && close("more"), REFUSED);
  else close("more");
  leaveRace();
  if (byId("race").matches(":focus-visible")) setTimeout(() => isRacing() && byId("stop").focus(), SETTLED);
  byId("go").setAttribute("data-racing", "");
  window.dispatchEvent(new Event("cascade-racing")); // see assets/controls/puzzles.js
  noteRaced();
  keepVisitor();
  byId("examples").removeAttribute("data-filling");
  const [statusTop, stageTop] = ["status", "stage"].map((id) => byId(id).getBoundingClientRect().top);
  if (stageTop + scrollY > innerHeight / 2) byId("lines").scrollIntoView({ block: "start" });
  else if (statusTop < 0) scrollTo(0, 0);
  awaitRace();
  return STARTING;
}

// The lanes of before keep their names where the race to come has the same methods, and models that are, as theirs, those that the page
// begins with, or are not.
function awaitRace() {
  const { open } = stage().race;
  const asked = [...document.querySelectorAll("#lanes input:checked")].map(({ name }) => name);
  const raced = open ? open.lanes.map(({ method }) => method) : [];
  const areOthers = byId("lines").hasAttribute("data-away") !== Boolean(open?.models);
  stageRoot().toggleAttribute("data-anew", areOthers || asked.join() !== raced.join());
  stageRoot().removeAttribute("data-stopped");
  stage().wait(true);
}

// The stage is told why a race was refused: while it is presented, nobody sees the status line.
export function endRace(status) {
  const hadFocus = document.activeElement === byId("stop");
  byId("go").removeAttribute("data-racing");
  if (hadFocus) byId("race").focus({ preventScroll: true });
  enterRace();
  const refusal = new DOMParser().parseFromString(status, "text/html").querySelector('[data-state="refused"]');
  stage().wait(false, refusal ? refusal.textContent : "");
  if (refusal?.dataset.field) showField(refusal.dataset.field, refusal.textContent);
  tellPrompt();
}

// The form has other models now than the race on the stage: the stage says that it is the one before.
export function tellPrevious(status) {
  const said = new DOMParser().parseFromString(status, "text/html").querySelector('[data-state="previous"]');
  if (said && !isRacing()) stage().wait(false, said.textContent);
}

// The setting that a refusal names; while the stage is presented, it tells the refusal itself.
function showField(id, sentence) {
  if (stageRoot().hasAttribute("data-present") || !document.querySelector(`#advanced #${id}`)) return;
  openField(id);
  tellRefusal(id, sentence);
}

// The id of the race on the stage; empty while one runs.
export function shownRace() {
  return isRacing() ? "" : stageRoot().dataset.race;
}

// The stage asks for a race, in place of one or while it is presented; with the name of an example, for a race of that.
function raceForStage({ detail: { example = "" } }) {
  if (isRacing()) return;
  (chipNamed(example) || byId("race")).click();
}

const chipNamed = (name) => [...document.querySelectorAll("#examples button")].find((one) => one.textContent.trim() === name.trim());

// The tour asks for the race that a cascade loses. Its button stands among the chips, and is guarded like them.
function raceForTour() {
  document.querySelector('#tabs [role="tab"][data-tab-id="race"]').click();
  byId("lose").click();
}
