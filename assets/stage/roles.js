// What a level is to someone who does not know its name: "copier", "tiny model", "big model".

import { levelMarks } from "./log.js";

const SIZES = { 1: ["small"], 2: ["tiny", "small"], 3: ["tiny", "small", "medium"] }; // of drafts, weakest first

// The role of the level with a mark, from its rank among the levels of the race.
export function roleOf(race, mark) {
  if (mark === "T") return "big model";
  if (mark === "0") return "copier";
  const drafts = levelMarks(race).filter((entry) => entry.mark !== "T" && entry.mark !== "0");
  const rank = drafts.findIndex((entry) => entry.mark === mark);
  const sizes = SIZES[drafts.length];
  return sizes && sizes[rank] ? `${sizes[rank]} model` : `draft ${mark}`;
}

// What stands beside the role: the name of its level, and that the copier is no model.
export function nameOf({ mark, labels }) {
  return mark === "0" ? `${labels[0]}, no model` : labels[0];
}
