// The result in large type over the lanes. What it says is written by csd/stage/headline.py; it appears at the end of
// the race and of its replay. Until then the idea stands there, and beside it the bet.

import { clearBet, createBet, drawBet } from "./bet.js";
import { h, put } from "./dom.js";
import { countRuns, countTokens } from "./format.js";
import { isPlain } from "./log.js";
import { actAt, tellOpeningTime } from "./opening.js";
import { tellPace } from "./pace.js";
import { hasInnerReview } from "./records.js";
import { speedFactor } from "./state.js";
import { withTerms } from "./terms.js";
import { quoteToken } from "./text.js";

const IDEA = ["A big model writes one token (about a word) per run.", "A cascade: small models guess ahead, and the big model checks all guesses in one run."];
const FASTER = "And so on, faster now.";
const ASKED = ["Will guessing ahead pay here?", "Small models guess, bigger ones check. Faster or slower, the text is the big model's."];

const SLOW = "The same race in slow motion: does guessing ahead pay?";
const WILD = 1; // temperature from which chance often picks unlikely words, as in csd/stage/headline.py
const NO_WIN = "Not in colour: this is no clear win"; // why a number is black
const FLAGGED = "Not in colour: the note below says why";
const METHODS = ["speculative decoding", "prompt lookup"]; // whose names a newcomer may not know
const COUNTS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

export function createHeadline(stage) {
  const headline = {
    opens: h("p", { class: "cs-opens" }), // the sentence of the speed
    factor: h("p", { class: "cs-factor" }),
    lead: h("p", { class: "cs-lead" }), // goes on from the factor
    idea: h("b"),
    rest: h("span", { class: "cs-rest" }),
    beside: h("b", { class: "cs-beside" }), // beside whom, where it is not part of the lead
    why: h("b", { class: "cs-cause" }), // in its place, where it is part of the lead
    text: h("b", { class: "cs-same" }),
    told: h("span", { class: "cs-account" }),
    flags: h("span", { class: "cs-flags" }),
    reason: h("span", { class: "cs-reason" }),
    bet: createBet(stage),
  };
  headline.box = h("section", { class: "cs-headline", "aria-label": "Result" },
    h("div", { class: "cs-hero" }, headline.opens, " ", headline.factor, " ", headline.lead),
    h("p", { class: "cs-words" }, headline.beside, headline.why, headline.text, headline.told, headline.flags, headline.reason, headline.bet.said),
    h("div", { class: "cs-before" },
      h("p", { class: "cs-idea" }, headline.idea, " ", headline.rest), headline.bet.box));
  return headline;
}

export function clearHeadline(stage) {
  const { headline } = stage;
  for (const part of ["opens", "factor", "lead", "beside", "why", "text", "told", "flags", "reason"]) put(headline[part], "");
  clearBet(stage);
  headline.box.dataset.shown = "false";
}

// "8-bit" and "3.7 s" stay in one line.
const unbroken = (text) => text.replace(/-bit/g, "-\u2060bit").replace(/(\d) (ms|s)\b/g, "$1\u00A0$2");

// Fills in what the race came to; `drawHeadline` shows it.
export function fillHeadline({ headline, race }) {
  const { lead, why, text, same, opens, factor, told, reason, flags, beaten, even } = race.close.headline || {};
  put(headline.opens, (factor && opens) || "");
  put(headline.factor, factor || "");
  headline.factor.title = (flags || []).length ? FLAGGED : beaten || even ? NO_WIN : "";
  const parts = lead ? splitClauses(lead) : [text || ""];
  headline.lead.replaceChildren(...clauses(parts));
  headline.beside.replaceChildren(...(parts[2] ? [...withTerms(apart(why ? `${parts[2]}: ${why}` : parts[2]), METHODS), " "] : []));
  put(headline.why, why ? `${asSentence(why)} ` : "");
  put(headline.text, lead ? `${same ? "\u2713 " : ""}${text}. ` : "");
  headline.text.dataset.same = String(Boolean(same));
  put(headline.told, told ? `${unbroken(told)} ` : "");
  put(headline.flags, asSentence((flags || []).join("; ")));
  put(headline.reason, !reason || ((flags || []).length && !beaten) ? "" : ` ${unbroken(reason)} `); // one thing at a time
  headline.box.toggleAttribute("data-flagged", Boolean((flags || []).length)); // its number is not in the colour of a win
  headline.box.toggleAttribute("data-even", Boolean(even && !beaten)); // there is no winner among the lanes
  headline.box.toggleAttribute("data-beaten", Boolean(beaten || even)); // no win: its number is in ink
}

// A sentence in two parts, each whole in its line where there is room. Where the second part stands apart as a sentence of its own,
// neither it nor the joint is shown here.
function clauses([first, joint, rest]) {
  const clause = (text, end = "") => h("span", { class: "cs-clause" }, ...withTerms(text, METHODS), end);
  return rest ? [clause(first, h("span", { class: "cs-joint", text: joint })), h("span", { class: "cs-joint", text: " " }), clause(rest)] : [clause(first)];
}

const splitClauses = (text) => text.match(/^(.*?)(?:([,;:]) (.*))?$/s).slice(1);

// The second part of that sentence, as one of its own.
const apart = (rest) => asSentence(rest.replace(/^and (?=[\d.]+×)/, ""));

const asSentence = (words) => words && `${words[0].toUpperCase()}${words.slice(1)}.`;

// While a race waits for its turn, the question stands where its answer will be.
export function askHeadline({ headline }) {
  put(headline.idea, ASKED[0]);
  put(headline.rest, ASKED[1]);
}

export function drawHeadline(stage) {
  const { headline, mode, race, presenting } = stage;
  drawBet(stage);
  const [idea, rest] = presenting ? tellSlide(stage) : tellIdea(stage);
  put(headline.idea, idea);
  put(headline.rest, rest);
  headline.box.dataset.shown = String(mode === "done" && Boolean(race.close));
}

function tellIdea(stage) {
  const { mode, race, raceId, firstId, lasts, headline: { bet } } = stage;
  const isTold = raceId === firstId || (mode === "replay" && bet.isKnown); // the first race tells the idea, and later ones ask what is not known yet
  const [idea, rest] = mode === "live" || lasts || !isTold ? ASKED : IDEA;
  const isSlow = idea === ASKED[0] && mode === "replay" && !lasts && speedFactor(stage) < 1;
  const told = (race.open && race.open.note) || rest;
  return stage.opening ? tellOpening(stage) : [isSlow ? SLOW : idea, unbroken(told)];
}

// For a hall: what to look at, and how fast it is shown.
function tellSlide(stage) {
  const { views: { length }, race } = stage;
  const heat = race.open?.heat ?? 0;
  const prompt = stage.mode === "live" ? "Live: one prompt" : "One prompt";
  const title = length > 1 ? `${prompt}, ${COUNTS[length] ?? length} methods: which is done first?` : `${prompt}: when is it done?`;
  const isWild = heat >= WILD && length > 1;
  const pace = stage.mode === "live" ? "" : tellPace(stage.mode, speedFactor(stage)); // the title says so
  return [isWild ? `Temperature ${heat}: chance picks the words. Does guessing pay?` : title, pace && `${pace[0].toUpperCase()}${pace.slice(1)}.`];
}

// Where a guess was wrong, what the big model makes of it.
function tellReplaced({ race: { pieces } }, { x, ok, y }) {
  const rest = ok + 1 < x.length ? "; the rest is dropped" : "";
  return y === undefined ? `The guesses from ${quoteToken(pieces, x[ok])} on are dropped.` : `The big model writes ${quoteToken(pieces, y)} instead of ${quoteToken(pieces, x[ok])}${rest}.`;
}

// What an act of the first replay shows.
function tellOpening(stage) {
  const { opening, views, view } = stage;
  const { says } = actAt(opening);
  const [first] = view.lane.steps;
  if (says === "alone") return [IDEA[0], "\u00A0"];
  if (says === "goesOn") return [FASTER, "\u00A0"];
  const plain = views.find(({ lane }) => isPlain(lane));
  const { count, line: { r: root } } = first;
  const guesses = root.x.length;
  if (says === "guesses") return [`${hasInnerReview(root) ? "A cascade of small models" : "A small model"} guesses ${countTokens(guesses)} ahead.`, "\u00A0"];
  if (says === "checks") return [`One run of the big model checks all ${guesses}.`, "\u00A0"];
  if (says === "finds") return root.ok < guesses ? [`${root.ok} of ${guesses} guesses are right.`, tellReplaced(stage, root)] : [`All ${guesses} guesses are right.`, "The big model adds a token of its own."];
  const time = tellOpeningTime(stage);
  if (says === "gives") return [`That run gave ${countTokens(count)}${count === root.ok + 1 ? `: ${root.ok} guesses and one of its own` : ""}.`, `The big model alone wrote ${plain.shown} in the same ${time}.`];
  return [`${countRuns(view.shown, "T")} of the big model gave ${countTokens(view.lane.tokens.length)}.`, `Alone, it wrote ${plain.shown} in the same ${time}.`];
}
