// How fast a race is shown, decided from the clocks of its lanes. A race that the eye can follow is watched while it
// runs and replayed in real time; a faster one is replayed in slow motion.

const READABLE = 50; // tokens per second: up to this rate of its slowest lane the eye can follow a race
const LONG = 4; // seconds: or if its longest lane takes this long
const SLOW_MOTION = 6; // seconds that the longest lane takes in slow motion
const PRESENTED = 10; // seconds that it takes for a hall, however long the race was

export function longestClock(race) {
  return Math.max(0, ...race.lanes.map((lane) => lane.clock));
}

export function canFollow(race) {
  const begun = race.lanes.filter((lane) => lane.decodeSeconds);
  const slowest = Math.min(...begun.map((lane) => lane.tokens.length / lane.decodeSeconds));
  return slowest <= READABLE || longestClock(race) >= LONG;
}

// The speed of a replay unless the visitor chooses another.
export function usualSpeed(race) {
  return canFollow(race) ? 1 : longestClock(race) / SLOW_MOTION;
}

// The speed while the stage is presented.
export function presentedSpeed(race) {
  return longestClock(race) / PRESENTED;
}

// A replay speed in words: "slow motion, 20\u00D7 slower", "real time", "2\u00D7 faster".
export function speedInWords(speed) {
  if (Math.abs(speed - 1) < 0.01) return "real time";
  const times = (value) => Number(value.toPrecision(2));
  return speed < 1 ? `slow motion, ${times(1 / speed)}\u00D7 slower` : `${times(speed)}\u00D7 faster`;
}

// What the stage is showing: "live", or how fast it replays; nothing where nothing moves.
export function tellPace(mode, speed) {
  if (mode === "live") return "live";
  return mode === "replay" ? speedInWords(speed) : "";
}
