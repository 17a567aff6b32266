import assert from "node:assert/strict";
import { test } from "node:test";
import { addLine, emptyRace } from "../../assets/stage/log.js";
import { canFollow, longestClock, tellPace, usualSpeed } from "../../assets/stage/pace.js";

// A race of lanes that each take so many seconds for one step of so many tokens.
function race(...lanes) {
  const made = emptyRace();
  addLine(made, { t: "open", levels: [], lanes: lanes.map(() => ({ method: "m", label: "", rule: "greedy", max: 999 })) });
  lanes.forEach(({ tokens, seconds }, i) => {
    if (!tokens) return;
    const x = Array(tokens).fill(1);
    addLine(made, { t: "step", i, x, who: "target", c: 0, d: seconds, r: { by: "target", at: 0, ok: 0, y: 1, c: 0, d: seconds } });
  });
  return made;
}

test("a slow lane, or a long race, can be followed with the eye", () => {
  assert.ok(canFollow(race({ tokens: 64, seconds: 2 }, { tokens: 64, seconds: 0.4 }))); // 32 tokens per second
  assert.ok(canFollow(race({ tokens: 900, seconds: 5 }))); // 180 per second for five seconds
  assert.ok(!canFollow(race({ tokens: 128, seconds: 0.6 }, { tokens: 128, seconds: 0.1 })));
  assert.ok(!canFollow(race({ tokens: 128, seconds: 0.6 }, { tokens: 0 }))); // a lane that has not begun does not count
});

test("what can be followed is replayed in real time, the rest takes six seconds", () => {
  assert.equal(usualSpeed(race({ tokens: 64, seconds: 2 })), 1);
  assert.equal(usualSpeed(race({ tokens: 128, seconds: 1.5 }, { tokens: 128, seconds: 0.1 })), 0.25);
  assert.equal(longestClock(race()), 0);
});

test("the stage says at which speed it shows a race", () => {
  assert.equal(tellPace("live", 1), "live");
  assert.equal(tellPace("replay", 1), "real time");
  assert.equal(tellPace("replay", 0.0551), "slow motion, 18\u00D7 slower");
  assert.equal(tellPace("replay", 4), "4× faster");
  assert.equal(tellPace("done", 1), "");
});
