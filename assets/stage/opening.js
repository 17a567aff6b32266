// The page's first replay, one thing after another: the big model alone; small models guess; one run of the big model checks their guesses;
// what it found; a rest on what that run gave; then the race; in it, how a guesser corrects a smaller one; the race again, until the lane
// that it is about is done; and a rest there. Until then that lane and the big model's are all that is shown, in the room of all. The
// result is that of the same moment.

import { isPlain } from "./log.js";
import { correctionIn, countRight } from "./pending.js";
import { tokensOf } from "./records.js";
import { tokenText } from "./text.js";

// What each act tells of, and the seconds that it takes, whatever the lanes' clocks say.
const SECONDS = { alone: 2.2, guesses: 1.8, checks: 1.5, finds: 1.7, gives: 2, goesOn: 1.2, rejects: 1.6, corrects: 1.4, finishes: 1.2, ends: 2.2 };
const FIRST = ["guesses", "checks", "finds"]; // acts about the guesses of the first step
const ONE = ["alone", ...FIRST, "gives"]; // acts about one step: what they show stands below its prompt
const GUESSED = [...FIRST, "rejects", "corrects"]; // acts about guesses
const FOLLOWED = 4; // seconds: a step that takes as long at the usual speed needs no slow motion
const ALONE = [2, 6]; // runs of the big model that are seen before anything else: those that the other lane's first step takes, within limits
const LONG = 90; // characters of a prompt
const MOVE = { duration: 300, easing: "cubic-bezier(0.2, 0, 0, 1)" };
const BEFORE = 1e-9; // seconds from the moment in which a step has been found right or wrong to its end

// The acts, {says, at, seconds, from, until, ahead}: from `at` seconds after the start, the lanes' clocks go from one time to another; that
// of `plain`, the big model alone, is `ahead` at least. The first act is left out where that one would be ahead too far, and the
// correction where there is no step `corrected`. No acts where the first step of the lane has no guesses, or can be followed at the usual
// `speed`.
export function openingActs({ steps, clock }, plain, speed, corrected) {
  const [first] = steps;
  if (!first || !plain || !tokensOf(first.line.r).length) return [];
  const { line: { c: begins, r: { c: checks } }, until } = first;
  if (until - begins >= speed * FOLLOWED) return [];
  const found = until - BEFORE;
  const alone = plain.steps.filter((step) => step.until < found).slice(0, ALONE[1]);
  const ahead = alone.length < ALONE[0] ? 0 : alone.at(-1).until;
  const times = { guesses: [begins, checks], checks: [checks, found], finds: [found, found], gives: [until, until], goesOn: [until, clock], ends: [clock, clock] };
  if (ahead) times.alone = [begins, ahead];
  if (corrected) {
    const { c, d } = correctionIn(corrected.line.r);
    Object.assign(times, { goesOn: [until, c], rejects: [c + d - BEFORE, c + d - BEFORE], corrects: [c + d, c + d], finishes: [c + d, clock] });
  }
  const lasts = corrected ? SECONDS : { ...SECONDS, goesOn: SECONDS.goesOn + SECONDS.finishes };
  let at = 0;
  return Object.keys(lasts).filter((says) => times[says]).map((says) => {
    const act = { says, at, seconds: lasts[says], from: times[says][0], until: times[says][1], ahead: at && times.alone ? ahead : 0 };
    at += act.seconds;
    return act;
  });
}

// The first step after the first one in which a guesser corrected a smaller one, if possible with a word in place of a word; or undefined.
export function correctedStep({ steps }, pieces) {
  const some = steps.slice(1).filter(({ line }) => correctionIn(line.r));
  const isWord = (id) => /\p{L}/u.test(tokenText(pieces, id));
  const areWords = ({ x, ok, y }) => isWord(x[ok]) && isWord(y);
  return some.find(({ line }) => areWords(correctionIn(line.r))) ?? some[0];
}

// The act that is played so many seconds after the start; the last one ever after.
export const actAt = ({ acts, played }) => acts.filter(({ at }) => at <= played).at(-1);

// What the lanes' clocks show then.
export function timeAt({ acts, played }) {
  const { at, seconds, from, until } = actAt({ acts, played });
  return from + (until - from) * Math.min(1, (played - at) / seconds);
}

export function isOver({ acts, played }) {
  const { at, seconds } = acts.at(-1);
  return played >= at + seconds;
}

// Whether an act is about guesses, before they are text or gone.
export const showsGuesses = ({ opening }) => Boolean(opening) && GUESSED.includes(actAt(opening).says);

// Whether the big model checks the first guesses, or has found which of them are right.
export const isChecking = ({ opening }) => Boolean(opening) && ["checks", "finds"].includes(actAt(opening).says);

// What stands beside the captions.
export const tellOpeningPace = ({ opening }) => (["goesOn", "finishes", "ends"].includes(actAt(opening).says) ? "" : "slow motion");

// What a lane's own clock shows: those beside the big model stand while it is told of alone.
export function timeOf({ opening, time }, { lane }) {
  if (!opening) return time;
  const { says, from, ahead } = actAt(opening);
  if (isPlain(lane)) return Math.max(time, ahead);
  return says === "alone" ? from : time;
}

// Of the first step without the guesses that a level below the big model is still to reject: what comes and goes at once is not read.
export function readableGuesses({ opening }, { lane }, guesses) {
  if (!opening || !guesses.cells.length || !FIRST.includes(actAt(opening).says)) return guesses;
  const x = tokensOf(lane.steps[0].line.r);
  const end = guesses.cells.findIndex(({ id }, j) => id !== x[j]);
  return end < 0 ? guesses : { ...guesses, cells: guesses.cells.slice(0, end) };
}

// How the guesses of a lane are drawn: whether `apart`; which of them are `sure`, as [from, to]; from which on they are `struck` out; and
// the `frame` around those that are being checked, {from, count, by}, or null.
export function guessesOf(stage, { guesses, lane }) {
  const { cells, isChecked } = guesses;
  const { opening } = stage;
  const usual = { apart: showsGuesses(stage), sure: [0, 0], struck: Infinity, frame: isChecked ? { from: 0, count: cells.length, by: "" } : null };
  if (!usual.apart || !cells.length) return usual;
  const { says } = actAt(opening);
  const right = countRight(guesses, lane);
  if (says === "finds") return { ...usual, sure: [0, right], struck: right };
  if (!opening.corrected || !lane.steps.includes(opening.corrected)) return usual;
  const { r: root } = opening.corrected.line;
  const { at, ok, by } = correctionIn(root);
  const from = at - root.at;
  if (says === "rejects") return { ...usual, struck: from + ok, frame: { from, count: cells.length - from, by } };
  if (says === "corrects") return { ...usual, sure: [from + ok, cells.length] };
  return usual;
}

// Of a prompt before the first words that follow it.
const endOf = (prompt) => (prompt.length > LONG ? `\u2026${prompt.slice(-LONG)}` : prompt);

// The two lanes share the height of all, and then the second one moves to its own place.
export function showOpening(stage) {
  const { root, opening, track: { rows }, lanesBox, view } = stage;
  const says = opening ? actAt(opening).says : "";
  const before = root.dataset.opening ?? "";
  if (before === says) return;
  const measure = () => rows.map(({ box }) => box.getBoundingClientRect());
  const boxes = measure();
  if (!before) root.style.setProperty("--cs-held", `${lanesBox.offsetHeight}px`);
  if (!before) root.style.setProperty("--cs-shared", `${boxes.reduce((sum, { height }) => sum + height, 0) / 2}px`);
  if (says) root.dataset.opening = says;
  else delete root.dataset.opening;
  root.toggleAttribute("data-first", ONE.includes(says));
  if (!before) view.text.dataset.prompt = endOf(stage.race.open.prompt);
  const own = rows.findIndex((row) => row.view === view);
  if (!says && own >= 0) rows[own].box.animate({ transform: [`translateY(${boxes[own].top - measure()[own].top}px)`, "none"] }, MOVE);
}
