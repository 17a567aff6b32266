// What the page does in the browser. csd/web/scripts.py names these functions in the page's events; they get the values of
// the event's inputs and return those of its outputs. csd/stage/bundle.py joins the modules into one script.

import { awaitLink } from "./arrival.js";
import { showDrawn } from "./drawing.js";
import { startPanels } from "./panels.js";
import { takeRaces } from "./racing.js";
import { tellPrompt, watchTyping } from "./typing.js";
import { watchChips } from "./chips.js";
import { watchList } from "./racelist.js";
import { watchReplay } from "./saving.js";
import { watchSections } from "./sections.js";
import { watchSettings } from "./settings.js";
import { addSkipLink } from "./skiplink.js";
import { watchStatus } from "./status.js";
import { watchTabs } from "./address.js";

export { arrive } from "./arrival.js";
export { beginOwn, endOwn, keepTyped, promptAside, restorePrompt, tellPrompt } from "./typing.js";
export { beginExample, beginRace, endExample, endRace, shownRace, tellPrevious } from "./racing.js";
export { chooseRace } from "./racelist.js";
export { noteVisitor, visitorBefore } from "./comeback.js";
export { close, toggle } from "./panels.js";
export { copyLink, downloadFigures } from "./saving.js";
export { drawTogether } from "./drawing.js";
export { openAddress, raceFromTab, readAddress, writeRace } from "./address.js";
export { checkNumbers, dropFaults, tellNames } from "./numbers.js";
export { hideControls } from "./query.js";
export { press } from "./dom.js";
export { reveal, tellSections } from "./sections.js";
export { tellSettings } from "./settings.js";

// Runs once, when the page has been drawn.
export function start() {
  addSkipLink();
  startPanels();
  takeRaces();
  watchTyping();
  watchChips();
  watchList();
  watchSettings();
  watchSections();
  watchStatus();
  watchReplay();
  watchTabs();
  tellPrompt();
  awaitLink();
  showDrawn();
}
