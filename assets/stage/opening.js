// The page's first replay, one thing after another: the big model alone; small models guess; one run of the big model checks their
// guesses; what it found; a rest on what that run gave; then the race, until the lane that it is about is done; and a rest there. Until
// then that lane and the big model's are all that is shown, in the room of all. The result is that of the same moment.

import { isPlain } from "./log.js";
import { countRight } from "./pending.js";
import { isPlaying } from "./state.js";

// What each act tells of, and the seconds that it takes, whatever the lanes' clocks say.
const SECONDS = { alone: 2.2, guesses: 2.4, checks: 1.5, finds: 1.8, gives: 1.6, goesOn: 1.8, ends: 1.2 };
const GUESSED = ["guesses", "checks", "finds"]; // acts in which the guesses are still guesses
const ALONE = [2, 6]; // runs of the big model that are seen before anything else: those that the other lane's first step takes, within limits
const LONG = 90; // characters of a prompt
const MOVE = { duration: 300, easing: "cubic-bezier(0.2, 0, 0, 1)" };
const BEFORE = 1e-9; // seconds from the moment in which a step has been found right or wrong to its end

// The acts, {says, at, seconds, from, until, ahead}: from `at` seconds after the start, the lanes' clocks go from one time to another; that
// of `plain`, the big model alone, is `ahead` at least. The first act is left out where that one would be ahead too far. None where the
// first step of the lane has no guesses, or can be followed at the usual `speed`.
export function openingActs({ steps, clock }, plain, speed) {
  const [first] = steps;
  if (!first || !plain || !(first.line.r.x || []).length) return [];
  const { line: { c: begins, r: { c: checks } }, until } = first;
  if (until - begins >= speed * (SECONDS.guesses + SECONDS.checks)) return [];
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

// Whether an act shows the guesses of the first step, before they are text or gone.
export const showsGuesses = ({ opening }) => Boolean(opening) && GUESSED.includes(actAt(opening).says);

// What a lane's own clock shows: those beside the big model stand while it is told of alone.
export function timeOf({ opening, time }, { lane }) {
  if (!opening) return time;
  const { says, from, ahead } = actAt(opening);
  if (isPlain(lane)) return Math.max(time, ahead);
  return says === "alone" ? from : time;
}

// How the guesses of a lane are drawn: whether apart, and how many have been found right, or null where that is not to be seen.
export function guessesOf(stage, { guesses, lane }) {
  const apart = showsGuesses(stage);
  return { apart, right: apart && actAt(stage.opening).says === "finds" ? countRight(guesses, lane) : null };
}

// Of a prompt before the first words that follow it.
const endOf = (prompt) => (prompt.length > LONG ? `\u2026${prompt.slice(-LONG)}` : prompt);

// The two lanes share the height of all, and then the second one moves to its own place.
export function showOpening(stage) {
  const { root, opening, track: { rows }, view } = stage;
  const says = opening && isPlaying(stage) ? actAt(opening).says : "";
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
