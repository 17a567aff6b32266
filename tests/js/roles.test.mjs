import assert from "node:assert/strict";
import { test } from "node:test";
import { addLine, emptyRace } from "../../assets/stage/log.js";
import { nameOf, roleOf } from "../../assets/stage/roles.js";

// A race of a copier, so many drafts, and a target.
function race(drafts) {
  const made = emptyRace();
  const levels = [{ name: "MaxGram", label: "Max-Gram", mark: "0", look: "0" }];
  for (let i = 1; i <= drafts; i++) levels.push({ name: `d${i}`, label: `d${i}`, mark: String(i), look: String(i) });
  levels.push({ name: "target", label: "target", mark: "T", look: "T" });
  addLine(made, { t: "open", levels, lanes: [] });
  return made;
}

const roles = (drafts) => ["0", ...Array.from({ length: drafts }, (_, i) => String(i + 1)), "T"].map((mark) => roleOf(race(drafts), mark));

test("levels are called by their rank", () => {
  assert.deepEqual(roles(0), ["copier", "big model"]);
  assert.deepEqual(roles(1), ["copier", "small model", "big model"]);
  assert.deepEqual(roles(2), ["copier", "tiny model", "small model", "big model"]);
  assert.deepEqual(roles(3), ["copier", "tiny model", "small model", "medium model", "big model"]);
  assert.deepEqual(roles(4).slice(1, 3), ["draft 1", "draft 2"]);
});

test("the copier is said to be no model", () => {
  assert.equal(nameOf({ mark: "0", labels: ["Max-Gram", "Bigram"] }), "Max-Gram, no model");
  assert.equal(nameOf({ mark: "2", labels: ["mid"] }), "mid");
});
