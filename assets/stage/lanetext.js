// The text of a lane: its lines, what of them is in sight, and what a reader does with them.

import { h } from "./dom.js";
import { rejectedFacts, tokenFacts } from "./facts.js";
import { countRight } from "./pending.js";
import { selectToken } from "./playback.js";
import { toggleReview } from "./review.js";
import { isPlaying, selectedStep } from "./state.js";
import { createDetokenizer, createLineBreaker, endsSentence, leadOf, tokenText } from "./text.js";
import { shrinkText } from "./textsize.js";
import { appendRest, createStep } from "./tokennodes.js";
import { hideTooltip, showTooltip } from "./tooltip.js";

const NEAR = 30; // pixels from its end within which a text counts as scrolled to its end
const WIDE = 700; // pixels from which short lines may stand in columns
const BELOW = 4; // pixels that type may reach below its line
const GAP = 32; // pixels between two columns, as in assets/stage/style/lanetext.css
const COLUMNS = [2, 3];
const COLUMNS_OF_CODE = [3, 2]; // three first: they fill up one by one, and the second has to stay where it is when the third begins

// The fields of a lane's view that this module owns.
export function createLaneText(stage, lane) {
  const label = `Text of lane ${lane.info.method}. Arrow keys step by review, Shift and arrow keys by token.`;
  return {
    text: h("div", { class: "cs-text", tabindex: "0", role: "group", "aria-label": label }),
    tokenNodes: [],
    stepNodes: [],
    detokenizer: createDetokenizer(stage.race.pieces),
    breaker: createLineBreaker(),
    lineEnd: null, // the line break that the text ends with so far
    ahead: [], // tokens that only other lanes have written, see cursors.js
    guessed: [], // tokens that are shown as guesses, see markGuesses
    hasBegun: false, // whether there is more than white space in it; until then line breaks take no lines
    follow: true, // scrolls along with what is new
    sought: "", // the token that was last brought into sight, and in which height
    bottoms: null, // where the line ends in which each step ends, in pixels; null until measured
    fittedSteps: 0, // for how many steps it is known whether they fit, while code is written
    ends: null, // the places of cursors behind tokens, each measured when it is first needed, see cursors.js; null as `bottoms`
    line: 0, // height of a line
    height: null, // of the box
    wanted: 0, // where the replay scrolls to
  };
}

// Lets a lane's text react to the pointer and the keyboard.
export function listenToText(stage, view) {
  const { text } = view;
  const point = (event) => !stage.isResting(event) && showTokenTooltip(stage, view, event.target);
  const scrolled = () => {
    view.follow = isInPlace(stage, view);
    countLines(stage, view);
    if (stage.mode === "done" && text.matches(":hover")) scrollTogether(stage, text);
  };
  text.addEventListener("scroll", scrolled, { passive: true });
  text.addEventListener("pointerover", point);
  text.addEventListener("focusin", point);
  text.addEventListener("pointerleave", () => hideTooltip(stage));
  text.addEventListener("focusout", () => hideTooltip(stage));
  text.addEventListener("click", (event) => selectClicked(stage, view, event.target));
}

// How many lines are out of sight: those above, or of a whole text those below.
function countLines({ mode }, { text, box, line }) {
  const above = Math.round(text.scrollTop / line) || 0;
  const below = mode === "done" ? Math.round((text.scrollHeight - text.clientHeight - text.scrollTop) / line) || 0 : 0;
  text.toggleAttribute("data-above", above > 0);
  const count = above || below;
  box.dataset.more = count ? `${above ? "\u2191" : "\u2193"} ${count} more line${count === 1 ? "" : "s"}` : "";
}

// Columns show the same lines, so that the reader can compare them.
function scrollTogether({ views }, { scrollTop }) {
  for (const { text } of views) if (Math.abs(text.scrollTop - scrollTop) > 1) text.scrollTop = scrollTop;
}

// Adds the steps of a lane that are not in the page yet; what is there is not touched.
export function appendSteps(stage, view) {
  const { lane, stepNodes } = view;
  const { open, pieces } = stage.race;
  const textOf = ({ id }) => tokenText(pieces, id);
  if (!stepNodes.length && lane.tokens.length) view.text.dataset.prompt = leadOf(open.prompt, textOf(lane.tokens[0]));
  const fresh = lane.steps.slice(stepNodes.length).map((step) => createStep(stage.race, view, step));
  stepNodes.push(...fresh);
  view.text.append(...fresh);
  if (lane.end === "eos") appendRest(view, view.detokenizer.flush()); // a text that is cut ends before a character that it cuts
  if (lane.end === "budget" && lane.tokens.length && !endsSentence(textOf(lane.tokens.at(-1)))) stepNodes.at(-1).classList.add("cs-goes-on");
}

// Keeps the newest text in sight. In a replay the text to come has its place already, so that a step costs no layout.
export function followText(stage) {
  for (const view of stage.views) {
    if (stage.root.dataset.view === "one" && view !== stage.view) continue; // it is not shown
    if (!view.height || isFull(stage, view)) fitLines(stage, view);
    if (stage.mode !== "replay") {
      if (view.follow) view.text.scrollTop = stage.mode === "done" ? 0 : 1e7; // a whole text is read from its beginning
      else if (view === stage.view && stage.token !== null) showToken(view, stage.token);
      view.wanted = NaN; // the replay scrolls to a place of its own
      countLines(stage, view);
      continue;
    }
    if (!view.bottoms) measureLines(view);
    const below = (view.bottoms[view.shown - 1] || 0) - view.height;
    const to = Math.max(0, Math.ceil(below / view.line - 0.1) * view.line);
    if (view.follow && (to !== view.wanted || !isPlaying(stage))) view.text.scrollTop = to; // a browser brings back where a text was before it was hidden
    view.wanted = to;
  }
}

// Scrolls to the line of a token that is not in sight, once: the reader may scroll away from it.
function showToken(view, position) {
  const { text, line, tokenNodes } = view;
  if (view.sought === `${position} ${text.clientHeight}`) return;
  view.sought = `${position} ${text.clientHeight}`;
  const top = Math.round((tokenNodes[position].offsetTop - tokenNodes[0].offsetTop) / line) * line;
  if (top < text.scrollTop || top + line > text.scrollTop + text.clientHeight) text.scrollTop = top;
}

// The box is whole lines high by its style; while presenting it takes the room that there is, in whole lines.
function fitLines(stage, view) {
  const { text } = view;
  const style = getComputedStyle(text);
  view.line = parseFloat(style.lineHeight);
  for (const property of ["flex", "columns", "height"]) text.style.removeProperty(property);
  for (const cursor of text.querySelectorAll(".cs-caret")) cursor.hidden = true; // where it was would count as text; it is placed anew
  if (stage.presenting) {
    const head = parseFloat(style.paddingTop); // for the signs of the cursors
    const lines = Math.max(1, Math.floor((text.clientHeight - head) / view.line + 0.02));
    text.style.flex = `0 0 ${lines * view.line + head + text.offsetHeight - text.clientHeight}px`;
  }
  flowLines(stage, view, false);
  if (isCut(stage, view)) {
    if (stage.presenting && shrinkText(stage)) return fitLines(stage, view);
    flowLines(stage, view, true);
  }
  view.height = text.clientHeight;
}

// Whether code that is being written has run out of room. Measured once for every step.
function isFull({ root, mode }, view) {
  const { text, stepNodes } = view;
  if (mode !== "live" || !root.hasAttribute("data-code") || view.fittedSteps === stepNodes.length) return false;
  view.fittedSteps = stepNodes.length;
  return text.scrollHeight > text.clientHeight + BELOW || text.scrollWidth > text.clientWidth + 2;
}

// Whether lines of a whole text are out of sight, which smaller type would show.
function isCut({ root, mode }, { text }) {
  return mode !== "live" && root.dataset.view === "one" && text.scrollHeight > text.clientHeight + 2;
}

// Code and lists have short lines: those that there is no room for go on beside the others, those of a list once all of them are
// known. A line is broken for that only where it `mayWrap`.
function flowLines({ root, mode, reviewOpen }, { text }, mayWrap) {
  const isCode = root.hasAttribute("data-code");
  const isOne = root.dataset.view === "one" && (mode !== "live" || isCode) && !reviewOpen;
  const isWhole = () => text.scrollHeight <= text.clientHeight + BELOW && text.scrollWidth <= text.clientWidth + 2;
  if (!isOne || text.clientWidth < WIDE || isWhole()) return;
  text.style.height = getComputedStyle(text).height; // to a part of a pixel: else the last line of a column would not fit
  text.scrollTop = 0; // where it was scrolled to would count as its height
  const [height, width] = [text.scrollHeight, text.clientWidth];
  for (const count of isCode && !mayWrap ? COLUMNS_OF_CODE : COLUMNS) {
    text.style.width = `${Math.floor(width / count) - GAP}px`;
    const wraps = text.scrollHeight > height + 2;
    text.style.removeProperty("width");
    if (wraps && !(mayWrap && isCode)) continue;
    text.style.columns = count;
    if (isWhole()) return;
    text.style.removeProperty("columns");
  }
  text.style.removeProperty("height");
}

function measureLines(view) {
  const lineEnd = (bottom) => Math.ceil(bottom / view.line - 0.4) * view.line; // type may reach below its line
  view.ends = [];
  view.bottoms = view.stepNodes.map((node) => lineEnd(node.offsetTop + node.offsetHeight));
}

// Shows the guesses of the step to come, as far as the target will accept them: a wrong one has no place in the text. The
// first `sure` ones are known to be right.
export function markGuesses(view, sure) {
  const { tokenNodes, guesses, lane } = view;
  const now = tokenNodes.slice(guesses.from, guesses.from + countRight(guesses, lane));
  for (const [j, node] of view.guessed.entries()) if (now[j] !== node) node.classList.remove("cs-guess", "cs-sure");
  for (const [j, node] of now.entries()) {
    node.classList.add("cs-guess");
    node.classList.toggle("cs-sure", j < sure);
  }
  view.guessed = now;
}

// Frames the selected token, and the step of the open review while nothing moves.
export function markSelection(stage) {
  const step = isPlaying(stage) || stage.opening || stage.mode === "live" ? null : selectedStep(stage);
  const { view, token } = stage;
  markOnly(stage, "cs-now", step ? view.stepNodes[step.number - 1] : null);
  markOnly(stage, "cs-picked", token === null ? null : view.tokenNodes[token]);
}

// The plain text of a lane, without the token that ends it.
export function answerOf(view) {
  return view.tokenNodes.filter((node) => !node.classList.contains("cs-ending")).map((node) => node.textContent).join("");
}

// At most one node of the stage carries a class of `stage.marked`.
function markOnly({ marked }, className, node) {
  if (marked[className] === node) return;
  if (marked[className]) marked[className].classList.remove(className);
  if (node) node.classList.add(className);
  marked[className] = node;
}

function isInPlace(stage, view) {
  const { text, wanted } = view;
  const place = { replay: wanted, done: 0 }[stage.mode] ?? text.scrollHeight - text.clientHeight;
  return Math.abs(place - text.scrollTop) < NEAR;
}

function showTokenTooltip(stage, view, node) {
  const target = node.closest && node.closest(".cs-token, .cs-rejected");
  if (!target) return hideTooltip(stage);
  const { i, r, j } = target.dataset;
  const { lane } = view;
  const facts = i !== undefined ? tokenFacts(stage.race, lane.tokens[Number(i)])
    : rejectedFacts(stage.race, lane.rejected[Number(r)], Number(j));
  showTooltip(stage, facts, target.getClientRects()[0] || target.getBoundingClientRect());
  target.setAttribute("aria-describedby", stage.tooltip.id);
}

// A click on a rejected token selects the token of the text that stands at its position.
function selectClicked(stage, view, node) {
  const target = node.closest(".cs-token, .cs-rejected");
  if (!target || !getSelection().isCollapsed) return;
  hideTooltip(stage);
  const { i, r } = target.dataset;
  if (i !== undefined) selectToken(stage, view, Number(i));
  else {
    const { at, step } = view.lane.rejected[Number(r)];
    selectToken(stage, view, Math.max(step.from, Math.min(step.count - 1, at - stage.race.open.start)));
  }
  if (!stage.reviewOpen) toggleReview(stage);
}
