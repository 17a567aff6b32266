// The page's first replay, one thing after another: the big model alone; small models guess; one of them corrects a smaller one, and they
// go on; one run of the big model checks their guesses; what it found; a rest on what that run gave; then the race, until the lane that it
// is about is done; and a rest there. Until then that lane and the big model's are all that is shown, in the room of all. The result is
// that of the same moment.

import { isPlain } from "./log.js";
import { correctionIn, countRight } from "./pending.js";

// What each act tells of, and the seconds that it takes, whatever the lanes' clocks say.
const SECONDS = { alone: 2.1, guesses: 1.6, rejects: 1.6, corrects: 1.4, completes: 0.8, checks: 1.2, finds: 1.6, gives: 1.9, goesOn: 1.5, ends: 1.4 };
const WRONG = ["guesses", "rejects"]; // acts before a guess is corrected below the big model
const GUESSED = [...WRONG, "corrects", "completes", "checks", "finds"]; // acts in which the guesses are still guesses
const FOLLOWED = 4; // seconds: a step that takes as long at the usual speed needs no slow motion
const ALONE = [2, 6]; // runs of the big model that are seen before anything else: those that the other lane's first step takes, within limits
const LONG = 90; // characters of a prompt
const MOVE = { duration: 300, easing: "cubic-bezier(0.2, 0, 0, 1)" };
const BEFORE = 1e-9; // seconds from the moment in which a step has been found right or wrong to its end

// The acts, {says, at, seconds, from, until, ahead}: from `at` seconds after the start, the lanes' clocks go from one time to another; that
// of `plain`, the big model alone, is `ahead` at least. The first act is left out where that one would be ahead too far, and the
// correction where there is none. No acts where the first step of the lane has no guesses, or can be followed at the usual `speed`.
export function openingActs({ steps, clock }, plain, speed) {
  const [first] = steps;
  if (!first || !plain || !(first.line.r.x || []).length) return [];
  const { line: { c: begins, r: root }, until } = first;
  const { c: checks } = root;
  if (until - begins >= speed * FOLLOWED) return [];
  const found = until - BEFORE;
  const alone = plain.steps.filter((step) => step.until < found).slice(0, ALONE[1]);
  const ahead = alone.length < ALONE[0] ? 0 : alone.at(-1).until;
  const correction = correctionIn(root);
  const times = { guesses: [begins, correction ? correction.c : checks], checks: [checks, found], finds: [found, found], gives: [until, until], goesOn: [until, clock], ends: [clock, clock] };
  if (ahead) times.alone = [begins, ahead];
  if (correction) {
    const corrected = correction.c + correction.d;
    Object.assign(times, { rejects: [corrected - BEFORE, corrected - BEFORE], corrects: [corrected, corrected], completes: [corrected, checks] });
  }
  const lasts = correction ? SECONDS : { ...SECONDS, guesses: SECONDS.guesses + SECONDS.completes };
  let at = 0;
  return Object.keys(lasts).filter((says) => times[says]).map((says) => {
    const act = { says, at, seconds: lasts[says], from: times[says][0], until: times[says][1], ahead: at && times.alone ? ahead : 0 };
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

// Whether an act shows the guesses of the first step, before they are text or gone.
export const showsGuesses = ({ opening }) => Boolean(opening) && GUESSED.includes(actAt(opening).says);

// What a lane's own clock shows: those beside the big model stand while it is told of alone.
export function timeOf({ opening, time }, { lane }) {
  if (!opening) return time;
  const { says, from, ahead } = actAt(opening);
  if (isPlain(lane)) return Math.max(time, ahead);
  return says === "alone" ? from : time;
}

// Without the guesses that a level below the big model is still to reject: what comes and goes at once is not read. One such correction
// is told, and what it is about is seen.
export function readableGuesses(stage, { lane }, guesses) {
  if (!showsGuesses(stage) || !guesses.cells.length) return guesses;
  const { line: { r: root } } = lane.steps[0];
  const told = WRONG.includes(actAt(stage.opening).says) ? correctionIn(root) : undefined;
  const from = told ? told.at - root.at : Infinity;
  const end = guesses.cells.findIndex(({ id }, j) => id !== (j < from ? root.x[j] : told.x[j - from]));
  return end < 0 ? guesses : { ...guesses, cells: guesses.cells.slice(0, end) };
}

// How the guesses of a lane are drawn: whether `apart`; which of them are `sure`, as [from, to]; from which on they are `struck` out; and
// the `frame` around those that are being checked, {from, count, by}, or null.
export function guessesOf(stage, { guesses, lane }) {
  const { cells, isChecked } = guesses;
  const whole = isChecked ? { from: 0, count: cells.length, by: "" } : null;
  const usual = { apart: showsGuesses(stage), sure: [0, 0], struck: Infinity, frame: whole };
  if (!usual.apart || !cells.length) return usual;
  const { line: { r: root } } = lane.steps[0];
  const right = countRight(guesses, lane);
  const { says } = actAt(stage.opening);
  if (says === "finds") return { ...usual, sure: [0, right], struck: right };
  const correction = correctionIn(root);
  if (!correction) return usual;
  const from = correction.at - root.at;
  if (says === "rejects") return { ...usual, struck: from + correction.ok, frame: { from, count: cells.length - from, by: correction.by } };
  if (says === "corrects") return { ...usual, sure: [from + correction.ok, cells.length] };
  return usual;
}

// Of a prompt before the first words that follow it.
const endOf = (prompt) => (prompt.length > LONG ? `\u2026${prompt.slice(-LONG)}` : prompt);

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
  if (!before) view.text.dataset.prompt = endOf(stage.race.open.prompt);
  const own = rows.findIndex((row) => row.view === view);
  if (!says && own >= 0) rows[own].box.animate({ transform: [`translateY(${boxes[own].top - measure()[own].top}px)`, "none"] }, MOVE);
}
