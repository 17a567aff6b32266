import assert from "node:assert/strict";
import { test } from "node:test";
import { faultOf, faultOfMethods, upTo, whyUnused } from "../../assets/page/numbers.js";
import { settingsInWords } from "../../assets/page/settings.js";
import { tellWaiting } from "../../assets/page/status.js";

test("the button of the settings tells of a temperature above 0", () => {
  assert.deepEqual([0, 0.7, -1, null].map(settingsInWords), ["Settings", "Settings \u00B7 temperature 0.7", "Settings", "Settings"]);
});

test("new tokens are as many as the models read, where that is known", () => {
  const range = { name: "New tokens", range: "a whole number from 1 to 1,000,000", low: 1, high: 1e6, whole: true };
  assert.equal(faultOf(upTo(range, 1024), "2000"), "New tokens must be a whole number from 1 to 1,023, not 2000.");
  assert.equal(faultOf(upTo(range, 1024), "1023"), "");
  assert.equal(faultOf(upTo(range, 0), "2000"), "");
});

test("a race has at least two methods, and at most as many as the page has lanes", () => {
  assert.deepEqual([2, 4].map((count) => faultOfMethods([2, 4], count)), ["", ""]);
  assert.equal(faultOfMethods([2, 4], 1), "1 method is chosen. Choose 2 to 4.");
  assert.equal(faultOfMethods([2, 4], 5), "5 methods are chosen. Choose 2 to 4.");
});

test("a field that no method of the race uses is told so", () => {
  const usedBy = { k: ["speculative"], K: ["vertical cascade", "cascade"] };
  assert.equal(whyUnused("K", usedBy, ["adaptive cascade"], 0), "No method of this race uses it.");
  assert.equal(whyUnused("K", usedBy, ["adaptive cascade", "cascade"], 0), "");
  assert.equal(whyUnused("seed", usedBy, [], 0), "Not used at temperature 0.");
  assert.equal(whyUnused("seed", usedBy, [], 0.5), "");
  assert.equal(whyUnused("max-new", usedBy, [], 0), "");
});

test("a race that waits says for how many others and for how long", () => {
  assert.equal(tellWaiting("queue: 1/1 | 2.0/6.8s"), "Waiting: 1 race before yours, about 5 s.");
  assert.equal(tellWaiting("queue: 7/9 | 2.0/14.8s"), "Waiting: 7 races before yours, about 15 s.");
  assert.equal(tellWaiting("queue: 1/1 | 7.0/6.8s"), "Waiting: 1 race before yours.", "it takes longer than expected");
  assert.equal(tellWaiting("queue: 3/4 | 1.5s"), "Waiting: 3 races before yours.");
  assert.equal(tellWaiting("queue: 1/1 | 0.4/6.8s"), "", "most races wait a moment");
  assert.equal(tellWaiting("processing | 2.0s"), "");
});

test("an address that somebody has mangled is read as it stands", async () => {
  const { splitAddress } = await import("../../assets/page/fragment.js");
  const read = (hash) => Object.assign(globalThis, { location: { hash } }) && splitAddress();
  assert.deepEqual(read("#%"), ["%"]);
  assert.deepEqual(read("#race=a%20b&step=2"), ["race=a b", "step=2"]);
});


test("a place in a race is in the address as it was left, and comes back", async () => {
  const { placeInWords, readPlace } = await import("../../assets/page/fragment.js");
  for (const [inside, words] of [[true, "lane=4&step=3"], [false, "lane=4&step=3&inside=0"]]) {
    assert.equal(placeInWords({ lane: 4, step: 3, inside }), words, "all lanes stay in view where they were");
    assert.deepEqual(readPlace(words), [4, 3, { word: 0, inside }]);
  }
  assert.equal(placeInWords({ lane: 4, step: 3, word: 9, inside: false }), "lane=4&step=3&word=9&inside=0");
});
