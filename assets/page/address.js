// Page and address follow each other: the address names the tab, or the race on the stage, and Back goes where one was.

import { arrive } from "./arrival.js";
import { hasRaced } from "./comeback.js";
import { byId, press, stage, stageRoot } from "./dom.js";
import { addressed, pushPlace, readPlace, splitAddress, writeAddress } from "./fragment.js";
import { close } from "./panels.js";
import { beginFilling } from "./typing.js";

const ADDRESSED = ["recorded-", "linked-"]; // the ids of races that have addresses begin with one of these

const NO_STEP = "The link names a step that this race does not have, so the whole race is shown.";
const SPARED = 40; // pixels of the sentence on a step that may be below the window
const SETTLED = 3000; // milliseconds after which nothing more is said of a race that has come

let wanted = ""; // the race that Back leads to, where the address does not name it
let isRead = false; // the address that the page was opened with; until then the tab that Gradio opens does not replace it
let followed = ""; // the fragment where the page is
let isFromTab = false; // the race that begins was asked for on another tab, from which the page has just come
let endedAway = ""; // the visitor's own race that has ended under another tab: Back to the place where it began shows it
let shown = ""; // the fragment of the race on the stage; empty for the visitor's own, and for the one at the start

const isTab = (fragment) => ["theory", "compare"].includes(fragment);
const findTab = (name) => document.querySelector(`#tabs [role="tab"][data-tab-id="${CSS.escape(name)}"]`);

export function watchTabs() {
  followed = location.hash;
  const watched = { subtree: true, childList: true, attributeFilter: ["aria-selected"] };
  new MutationObserver(writeTab).observe(document.querySelector("#tabs > .tab-wrapper"), watched);
  addEventListener("popstate", followAddress);
  addEventListener("cascade-show", ({ detail: { race } }) => showAgain(race));
  addEventListener("hashchange", () => isTab(addressed()) && requestAnimationFrame(() => scrollTo(0, 0))); // the browser goes to the part that has the tab's name, or where the page was
}

// Called when the race that the address names is about to be shown.
export function readAddress() {
  beginFilling();
  const on = wanted && `on=${wanted}`;
  wanted = "";
  return on || (isTab(addressed()) ? "" : addressed());
}

// Begins a race that was asked for on another tab, by pressing a button, if any: Back leads to that tab.
export function raceFromTab(id) {
  isFromTab = Boolean(id) && !byId("go").hasAttribute("data-racing");
  press(id);
}

// A race of the visitor's own has no address, but a place in the history, which Back leads to: called when one begins, under the
// race that was on the stage, and when it has ended.
export function leaveRace() {
  if (!addressed() && !isFromTab) history.replaceState({ ...history.state, on: stageRoot().dataset.race }, "");
  isFromTab = false;
  endedAway = "";
  writeRace("");
}

export function enterRace() {
  const { race } = stageRoot().dataset;
  if (!race || ADDRESSED.some((prefix) => race.startsWith(prefix))) return;
  if (isTab(addressed())) endedAway = race;
  if (addressed() || history.state?.on === race) return;
  if (history.state?.on) pushPlace({ on: race });
  else history.replaceState({ ...history.state, on: race }, "");
}

// Called with the id of the race that the visitor has chosen.
export function writeRace(id) {
  close("races");
  if (id) stage().wait(false); // the stage is about to show what was asked for
  beginFilling();
  const prefix = ADDRESSED.find((one) => String(id || "").startsWith(one));
  shown = prefix ? `race=${id.slice(prefix.length)}` : "";
  writeTab();
}

// Called with the name of the race on the stage that a link has been made for: from now on the page's own address leads to it too. It is
// no new place, so that Back leads where it would have led; and not where something is open, whose address goes with it.
export function writeLinked(name) {
  if (history.state?.over?.length) return;
  shown = `race=${name}`;
  history.replaceState(history.state, "", `#${shown}`);
  followed = location.hash;
}

// Called when the page has been opened. Where the address names no race, the visitor's own comes back.
export function openAddress() {
  isRead = true;
  goToAddress(hasRaced());
}

// After Back and Forward.
function followAddress() {
  const isSame = location.hash === followed;
  followed = location.hash;
  document.activeElement?.closest("#examples button")?.blur(); // the chip began a race that is no longer shown
  if (!addressed() && endedAway) history.replaceState({ ...history.state, on: endedAway }, "");
  const on = addressed() ? "" : history.state?.on || "";
  if (on !== stageRoot().dataset.race && !byId("go").hasAttribute("data-racing")) wanted = on;
  if (!isSame || wanted) goToAddress(false); // otherwise what covered the page was closed
}

// The stage asks for a race that it has shown before; the address stays.
function showAgain(race) {
  if (byId("go").hasAttribute("data-racing")) return;
  wanted = race;
  byId("follow-address").click();
}

function goToAddress(comesBack) {
  const fragment = addressed();
  const wasShown = shown;
  if (!isTab(fragment)) shown = fragment;
  findTab(isTab(fragment) ? fragment : "race").click();
  if (comesBack || wanted || (!isTab(fragment) && fragment !== wasShown)) byId("follow-address").click();
  else arrive();
  if (fragment.startsWith("race=")) goToPlace(fragment.slice("race=".length), splitAddress().slice(1).join("&"));
}

function writeTab() {
  const tab = document.querySelector('#tabs [role="tab"][aria-selected="true"]');
  if (tab?.dataset.tabId === "race") endedAway = ""; // it has been seen
  if (tab && (isRead || isTab(tab.dataset.tabId))) writeAddress(tab.dataset.tabId === "race" ? shown : tab.dataset.tabId);
  followed = location.hash;
}

// Goes to a step of a race, such as "lane=4&step=3", once the race of this name is on the stage, or says that there is none.
function goToPlace(name, place) {
  const root = stageRoot();
  const isThere = () => ADDRESSED.some((prefix) => root.dataset.race === prefix + name);
  const go = () => isThere() && (stage().goTo(...readPlace(place)) ? showPlace(root) : root.dataset.state !== "live" && tellNoStep());
  if (!place || go()) return;
  const watcher = new MutationObserver(() => go() && watcher.disconnect());
  watcher.observe(root, { attributeFilter: ["data-race", "data-state"] });
}

// What happens in the step comes into view, on a phone too.
function showPlace(root) {
  const told = root.querySelector(".cs-opened");
  if (told.getBoundingClientRect().bottom > innerHeight + SPARED) told.scrollIntoView({ block: "nearest" });
  return tell(`The link shows ${placeInText(root)}.`);
}

const placeInText = (root) => root.querySelector(".cs-stepper .cs-place").textContent; // such as "step 3 of 7"

function tellNoStep() {
  stage().skip();
  return tell(NO_STEP);
}

// In place of what the page says when the race has come, which may still be on its way.
function tell(sentence) {
  const status = byId("status");
  const write = () => {
    const line = status.querySelector("p");
    if (!line || line.textContent === sentence) return;
    Object.assign(line, { textContent: sentence });
    for (const name of ["data-spoken", "data-state"]) line.removeAttribute(name);
  };
  const watcher = new MutationObserver(write);
  watcher.observe(status, { subtree: true, childList: true, characterData: true });
  setTimeout(() => watcher.disconnect(), SETTLED);
  write();
  return true;
}
