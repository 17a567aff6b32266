// A small race as the log tells it, by hand: an autoregressive lane, and a cascade in which inner reviews reject tokens.

import { addLine, emptyRace } from "../../assets/stage/log.js";

const LEVELS = [
  { name: "MaxGram", label: "Max-Gram", role: "copier", level: 0, mark: "0", look: "0" },
  { name: "small", label: "small", role: "tiny model", level: 1, mark: "1", look: "1" },
  { name: "mid", label: "mid", role: "small model", level: 2, mark: "2", look: "2" },
  { name: "target", label: "target", role: "big model", level: 3, mark: "T", look: "T" },
];
const PIECES = { 1: "The", 2: " fox", 3: " ran", 4: " home", 7: " and", 8: " then", 9: " it" };

// mid keeps one of two copied tokens and replaces the other, small writes one token alone, Max-Gram copies two; the
// target accepts 3 of the 5 and corrects.
const copied = { by: "MaxGram", at: 2, x: [1, 9], who: "MaxGram", c: 0.201, d: 0.001 };
const mid = { by: "mid", at: 2, x: [1, 9], who: "MaxGram", ok: 1, y: 2, c: 0.202, d: 0.01, in: [copied], p: [0.9, 0.1], q: [1, 1] };
const small = { by: "small", at: 4, ok: 0, y: 3, c: 0.213, d: 0.005 };
const tail = { by: "MaxGram", at: 5, x: [8, 7], who: "MaxGram", c: 0.218, d: 0.001 };
export const ROOT = {
  by: "target", at: 2, x: [1, 2, 3, 8, 7], who: ["MaxGram", "mid", "small", "MaxGram", "MaxGram"], ok: 3, y: 4, m: 2.5,
  c: 0.22, d: 0.02, in: [mid, small, tail],
};

export const LINES = [
  { t: "open", race: "r", start: 2, levels: LEVELS, p: PIECES, lanes: [
    { method: "autoregressive", label: "", rule: "greedy", max: 8 }, { method: "cascade", label: "k=2", rule: "greedy", max: 8 }] },
  { t: "prefill", i: 0, by: "target", n: 2, c: 0, d: 0.2 },
  { t: "step", i: 0, x: [1], who: "target", c: 0.2, d: 0.1, r: { by: "target", at: 2, ok: 0, y: 1, c: 0.2, d: 0.09 } },
  { t: "prefill", i: 1, by: "target", n: 2, c: 0, d: 0.2 },
  { t: "step", i: 1, x: [1, 2, 3, 4], who: ["MaxGram", "mid", "small", "target"], c: 0.2, d: 0.045, r: ROOT },
  { t: "end", i: 1, end: "eos" },
];

export function race(...more) {
  const made = emptyRace();
  for (const line of [...LINES, ...more]) addLine(made, line);
  return made;
}

// A race whose last lane has one step with this review.
export function raceOf(review) {
  const x = [...(review.x || []).slice(0, review.ok), ...(review.y === undefined ? [] : [review.y])];
  return race({ t: "step", i: 0, x, who: "target", c: 0.3, d: 0.1, r: { c: 0.3, d: 0.1, by: "target", at: 3, ...review } });
}
