import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createDetokenizer, createLineBreaker, endsSentence, escapeControls, isEndSign, leadOf, quoteToken, splitWhitespace, tokenText, tokenWord,
  visibleText,
} from "../../assets/stage/text.js";

const spell = (pieces, ids) => {
  const detokenizer = createDetokenizer(new Map(Object.entries(pieces).map(([id, piece]) => [Number(id), piece])));
  return [...ids.map((id) => detokenizer.next(id)), detokenizer.flush()];
};

test("a character split over tokens appears at the token that completes it", () => {
  const pieces = { 1: [0xf0, 0x9f], 2: [0xa6, 0x8a], 3: " fox" }; // U+1F98A
  assert.deepEqual(spell(pieces, [1, 2, 3]), [["", ""], ["", "\u{1F98A}"], ["", " fox"], ""]);
});

test("bytes that no token completes become replacement characters, at the next token or at the end", () => {
  const pieces = { 1: [0xf0, 0x9f], 2: "a", 3: [0xff], 4: [0x62, 0xe2] };
  assert.deepEqual(spell(pieces, [1, 2]), [["", ""], ["\uFFFD", "a"], ""]);
  assert.deepEqual(spell(pieces, [3, 1]), [["", "\uFFFD"], ["", ""], "\uFFFD"]);
  assert.deepEqual(spell(pieces, [4, 2]), [["", "b"], ["\uFFFD", "a"], ""]); // a whole character, then the start of one
});

test("half a surrogate pair and ids without a piece stay as they are", () => {
  assert.deepEqual(spell({ 1: "\ud83d" }, [1, 5]), [["", "\ud83d"], ["", "\uFFFD"], ""]);
  assert.equal(escapeControls("\ud83d"), "\ud83d");
});

test("a token alone that is a part of a character is a dotted circle, and named in a sentence", () => {
  const pieces = new Map([[1, [0xf0, 0x9f]], [2, [0xc3, 0xa9]], [3, "x"]]);
  assert.deepEqual([1, 2, 3, 4].map((id) => tokenText(pieces, id)), ["\u25CC", "\u00e9", "x", "\uFFFD"]);
  assert.equal(quoteToken(pieces, 1), "a part of a character");
  const signs = new Map([[1, ' "'], [2, "\n"], [3, '."'], [4, "constructor"]]);
  assert.deepEqual([1, 2, 3, 4].map((id) => quoteToken(signs, id)),
    ["a quotation mark", "a line break", "\u201C\u2068.\"\u2069\u201D", "\u201C\u2068constructor\u2069\u201D"]);
});

test("control characters and changes of direction are named", () => {
  assert.equal(escapeControls("a\u0000\u001b\u202e\ufeffb"), "a<U+0000><U+001B><U+202E><U+FEFF>b");
  assert.equal(escapeControls("a\r\nb\tc\n"), "a\u23CEb\u21E5c\u23CE");
  assert.equal(visibleText(" a b"), "\u00B7a\u00B7b");
  assert.equal(visibleText(""), "(part of a character)");
});

test("a token as a word has no space before it, unless it is nothing else", () => {
  const pieces = new Map([[1, " fox"], [2, "  "], [3, "\n"]]);
  assert.deepEqual([1, 2, 3].map((id) => tokenWord(pieces, id)), ["fox", "\u00B7\u00B7", "\u23CE"]);
  assert.equal(quoteToken(pieces, 1), "\u201C\u2068fox\u2069\u201D");
});

test("white space is split off where it needs a sign", () => {
  assert.deepEqual(splitWhitespace("a b\r\n  c\td"), [
    ["text", "a b"], ["break", "\r\n"], ["space", "  "], ["text", "c"], ["space", "\t"], ["text", "d"],
  ]);
  assert.deepEqual(splitWhitespace(""), []);
  const hostile = splitWhitespace("\n".repeat(1000));
  assert.equal(hostile.length, 65);
  assert.equal(hostile.map(([, part]) => part).join(""), "\n".repeat(1000));
});

test("lines break at white space, before CJK characters, and in long runs", () => {
  const breaks = (texts) => {
    const breaker = createLineBreaker();
    return texts.map((text) => breaker.next(text));
  };
  assert.deepEqual(breaks(["On", "ce", " upon", "\n", "a"]), [true, false, true, true, true]);
  assert.deepEqual(breaks(["a", "\u4e2d", "\u6587"]), [true, true, true]);
  assert.deepEqual(breaks(["abcdefghij", "abcdefghij", "abcdefghij", "a"]), [true, false, true, false]);
});

test("the end of a text is a mark, not its tokenizer's name", () => {
  const ends = ["<|endoftext|>", "</s>", "<|im_end|>", "<eos>", "<end_of_turn>"];
  assert.ok(ends.every(isEndSign));
  assert.ok(!["<|start|>", "end", "</b>", "<s>", " </s>", "<endless>"].some(isEndSign));
  assert.equal(tokenWord(new Map([[1, "</s>"]]), 1), "\u25A0 end");
  assert.equal(tokenWord(new Map([[1, "<|im_start|>"]]), 1), "\u25A0 start");
});

test("an answer goes on with the sentence that its prompt left open", () => {
  const prompt = "An otter lived by the sea. One day, she made a boat. At first";
  assert.equal(leadOf(prompt, " it"), "At first");
  assert.equal(leadOf("He said \"Go!\" Then", " they"), "Then");
  assert.equal(leadOf("Once upon a time", " there"), "Once upon a time");
  assert.equal(leadOf("It was on the very first of all the many days of that year that", " the"), "\u2026 of all the many days of that year that");
  for (const [ended, first] of [[`${prompt} it went.`, " She"], [prompt, "\n\n"], [prompt, "It"], ["Question: why?\nAnswer:", " Because"], ["", " a"], [prompt, " \u2014"]]) {
    assert.equal(leadOf(ended, first), "", `${ended} ${first}`);
  }
});

test("a text ends with a sentence or goes on", () => {
  assert.ok([".", "by.", '."', "!\u201D", "?)"].every(endsSentence));
  assert.ok(!["by", ",", "...a", ""].some(endsSentence));
});
