// The page's first replay, one thing after another: the big model alone; small models guess; one run of the big model checks their guesses;
// what it found; a rest on what that run gave; then the race, until the lane that it is about is done; and a rest there. Until then that
// lane and the big model's are all that is shown, in the room of all. The result is that of the same moment.

import { formatSeconds } from "./format.js";
import { isPlain, titleOf } from "./log.js";
import { countRight } from "./pending.js";
import { tokensOf } from "./records.js";

// What each act tells of, and the seconds that it takes, whatever the lanes' clocks say.
const SECONDS = { alone: 2.8, guesses: 2, checks: 1.5, finds: 1.8, gives: 2.2, goesOn: 2, ends: 1.9 };
const GUESSED = ["guesses", "checks", "finds"]; // acts about the guesses of the first step
const FOLLOWED = 4; // seconds: a step that takes as long at the usual speed needs no slow motion
const ALONE = [2, 6]; // runs of the big model that are seen before anything else: those that the other lane's first step takes, within limits
const MOVE = { duration: 300, easing: "cubic-bezier(0.2, 0, 0, 1)" };
const BEFORE = 1e-9; // seconds from the moment in which a step has been found right or wrong to its end

// The acts, {says, at, seconds, from, until, ahead}: from `at` seconds after the start, the lanes' clocks go from one time to another; that
// of `plain`, the big model alone, is `ahead` at least. The first act is left out where that one would be ahead too far. No acts where the
// first step of the lane has no guesses, or can be followed at the usual `speed`.
export function openingActs({ steps, clock }, plain, speed) {
  const [first] = steps;
  if (!first || !plain || !tokensOf(first.line.r).length) return [];
  const { line: { c: begins, r: { c: checks } }, until } = first;
  if (until - begins >= speed * FOLLOWED) return [];
  const found = until - BEFORE;
  const alone = plain.steps.filter((step) => step.until < found).slice(0, ALONE[1]);
  const ahead = alone.length < ALONE[0] ? 0 : alone.at(-1).until;
  const times = { guesses: [begins, checks], checks: [checks, found], finds: [found, found], gives: [until, until], goesOn: [until, clock], ends: [clock, clock] };
  if (ahead) times.alone = [begins, ahead];
  let at = 0;
  return Object.keys(SECONDS).filter((says) => times[says]).map((says) => {
    const act = { says, at, seconds: SECONDS[says], from: times[says][0], until: times[says][1], ahead: at && times.alone ? ahead : 0 };
    at += act.seconds;
    return act;
  });
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

// The race's own time by then, which its end is told in as well.
export function tellOpeningTime({ opening }) {
  const begins = opening.acts[0].from;
  return formatSeconds(timeAt(opening) - begins, opening.acts.at(-1).until - begins);
}

// What stands beside the captions: the time, and whose it is while the other lane stands, for it begins anew with the second one.
export function tellOpeningPace(stage) {
  const { says } = actAt(stage.opening);
  const time = tellOpeningTime(stage).replace(" ", "\u00A0");
  if (["goesOn", "ends"].includes(says)) return time;
  const { lane } = says === "alone" ? stage.views.find((view) => isPlain(view.lane)) : stage.view;
  return says === "gives" ? `${time}, in slow motion` : `${titleOf(lane)}: ${time}, in slow motion`;
}

// What a lane's own clock shows: those beside the big model stand while it is told of alone.
export function timeOf({ opening, time }, { lane }) {
  if (!opening) return time;
  const { says, from, ahead } = actAt(opening);
  if (isPlain(lane)) return Math.max(time, ahead);
  return says === "alone" ? from : time;
}

// Of the first step without the guesses that a level below the big model is still to reject: what comes and goes at once is not read.
export function readableGuesses({ opening }, { lane }, guesses) {
  if (!opening || !guesses.cells.length || !GUESSED.includes(actAt(opening).says)) return guesses;
  const x = tokensOf(lane.steps[0].line.r);
  const end = guesses.cells.findIndex(({ id }, j) => id !== x[j]);
  return end < 0 ? guesses : { ...guesses, cells: guesses.cells.slice(0, end) };
}

// How the guesses of a lane are drawn: whether `apart`; how many of them are `sure`; from which on they are `struck` out; and
// how many are `framed`, because they are being checked.
export function guessesOf(stage, { guesses, lane }) {
  const { cells, isChecked } = guesses;
  const usual = { apart: showsGuesses(stage), sure: 0, struck: Infinity, framed: isChecked ? cells.length : 0 };
  if (!usual.apart || actAt(stage.opening).says !== "finds") return usual;
  const right = countRight(guesses, lane);
  return { ...usual, sure: right, struck: right };
}

// The two lanes share the height of all, and then the second one moves to its own place.
export function showOpening(stage) {
  const { root, opening, track: { rows }, view } = stage;
  const says = opening ? actAt(opening).says : "";
  const before = root.dataset.opening ?? "";
  if (before === says) return;
  const measure = () => rows.map(({ box }) => box.getBoundingClientRect());
  const boxes = measure();
  if (!before) root.style.setProperty("--cs-shared", `${boxes.reduce((sum, { height }) => sum + height, 0) / 2}px`);
  if (says) root.dataset.opening = says;
  else delete root.dataset.opening;
  root.toggleAttribute("data-unhurried", before === "ends"); // the other lanes come in behind the result, and at once for who asks for it
  if (!before) for (const { box } of rows) for (const moving of box.getAnimations()) moving.cancel(); // it begins, or goes on where another stage was
  const own = rows.findIndex((row) => row.view === view);
  if (!says && own >= 0) rows[own].box.animate({ transform: [`translateY(${boxes[own].top - measure()[own].top}px)`, "none"] }, MOVE);
}
