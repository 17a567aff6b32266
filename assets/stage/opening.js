// The page's first replay, one thing after another: small models guess, one run of the big model checks their guesses, a rest in
// which to see what that run gave, and then the race goes on until the lane that it is about is done. Until then that lane and the
// big model alone are all that is shown. The result is that of the same moment.

import { isPlaying } from "./state.js";

// What each act tells of, and the seconds that it takes, whatever the lanes' clocks say.
const ACTS = [["guesses", 2.2], ["checks", 1.8], ["gives", 1.4], ["gives", 2.2]];
const SHOWN = ACTS[0][1] + ACTS[1][1]; // seconds of the first step

// The acts, {says, at, seconds, from, until}: from `at` seconds after the start, the lanes' clocks go from one time to another. None
// where the first step of the lane has no guesses, or can be followed at the usual `speed`.
export function openingActs({ steps, clock }, speed) {
  const [first] = steps;
  if (!first || !(first.line.r.in || []).length) return [];
  const { line: { c: begins, r: { c: checks } }, until } = first;
  if (until - begins >= speed * SHOWN) return [];
  const times = [begins, checks, until, until, clock];
  let at = 0;
  return ACTS.map(([says, seconds], i) => {
    const act = { says, at, seconds, from: times[i], until: times[i + 1] };
    at += seconds;
    return act;
  });
}

// The act that is played so many seconds after the start; the last one ever after.
export const actAt = (acts, played) => acts.filter(({ at }) => at <= played).at(-1);

// What the lanes' clocks show then.
export function timeAt(acts, played) {
  const { at, seconds, from, until } = actAt(acts, played);
  return from + (until - from) * Math.min(1, (played - at) / seconds);
}

// When the clocks show that time.
export function playedAt(acts, time) {
  const act = acts.find(({ until }) => time <= until);
  return act ? act.at + act.seconds * Math.max(0, (time - act.from) / (act.until - act.from)) : lengthOf(acts);
}

export function lengthOf(acts) {
  const { at, seconds } = acts.at(-1);
  return at + seconds;
}

// While the others are not shown, the lane and all that is below it stand right under the big model's.
export function showOpening(stage) {
  const { root, track: { rows }, view } = stage;
  const isShown = isPlaying(stage) && Boolean(stage.opening);
  if (root.hasAttribute("data-opening") === isShown) return;
  if (isShown) {
    const topOf = ({ box }) => box.getBoundingClientRect().top;
    const own = topOf(rows.find((row) => row.view === view));
    const others = rows.filter((row) => row.view !== view && !row.box.hasAttribute("data-plain")).map(topOf);
    root.style.setProperty("--cs-lift", `${Math.max(0, own - Math.min(own, ...others))}px`);
  }
  root.toggleAttribute("data-opening", isShown);
}
