// The text of tokens. A piece is what one token id stands for: a string, or a list of bytes where the token holds
// only a part of a character.

const UNKNOWN = "\uFFFD";
const PART = "\u25CC"; // of a character
const ENDS = /^<\|?(endoftext|im_end|eot_id|end_of_turn|end|eos|\/s)\|?>$/;
const STARTS = /^<\|?(im_start|begin_of_text|start_of_turn|start_header_id|bos|s)\|?>$/;
const QUOTE = "a quotation mark";
const NAMED = new Map([['"', QUOTE], ["\u201C", QUOTE], ["\u201D", QUOTE], ["'", "an apostrophe"], ["\u23CE", "a line break"]]); // hard to read between quotation marks
const MOST_PARTS = 64; // of a word: line breaks, runs of spaces, and what is between them
const LONGEST_LEAD = 40; // characters
const LONGEST_RUN = 24; // characters without white space after which a line may break anywhere
// Control characters, line separators and characters that change the writing direction.
const CONTROLS = /[\u0000-\u001F\u007F-\u009F\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g;

// Decodes the tokens of one lane in order: a character split over several tokens appears at the one that completes it.
export function createDetokenizer(pieces) {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  // Ends the text: the replacement characters for bytes that no token completed.
  const flush = () => decoder.decode();
  return {
    // Returns [text of bytes that earlier tokens left incomplete, the token's own text].
    next(id) {
      const piece = pieces.get(id);
      if (Array.isArray(piece)) return ["", decoder.decode(new Uint8Array(piece), { stream: true })];
      return [flush(), piece === undefined ? UNKNOWN : piece];
    },
    flush,
  };
}

// A token on its own, such as a rejected one. One that is not a whole character stands as a dotted circle.
export function tokenText(pieces, id) {
  const piece = pieces.get(id);
  if (!Array.isArray(piece)) return piece === undefined ? UNKNOWN : piece;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(piece));
  } catch {
    return PART;
  }
}

// Names control characters, so that they change nothing around them.
export function escapeControls(text) {
  return text
    .replace(/\r?\n/g, "\u23CE")
    .replace(/\t/g, "\u21E5")
    .replace(CONTROLS, (sign) => `<U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
}

// Whether a token's text stands for the end of a text, as a tokenizer spells it.
export function isEndSign(text) {
  return ENDS.test(text);
}

// Every character of a text as something that can be seen, spaces included.
export function visibleText(text) {
  return escapeControls(text).replace(/ /g, "\u00B7") || "(part of a character)";
}

// A token as a word: without the space before it, unless it consists of nothing else.
export function tokenWord(pieces, id) {
  const text = tokenText(pieces, id);
  if (isEndSign(text)) return "\u25A0 end";
  if (STARTS.test(text)) return "\u25A0 start";
  return escapeControls(text).trim() || visibleText(text);
}

// In quotation marks, and isolated so that right-to-left text does not reorder the sentence around it.
export function quoteToken(pieces, id) {
  const word = tokenWord(pieces, id);
  if (word === PART) return "a part of a character";
  return NAMED.get(word) ?? `\u201C\u2068${word}\u2069\u201D`;
}

// Whether a text ends with a sentence.
export const endsSentence = (text) => /[.!?]["'\u201D\u2019)]*$/.test(text);

// The words of a prompt that end in the midst of a sentence, for an answer whose first token is a further word of it; else nothing.
export function leadOf(prompt, first) {
  const words = escapeControls(prompt.split(/[\r\n]|[.!?]["'\u201D\u2019)]*\s/).at(-1).trim());
  if (!/^ \p{L}/u.test(first) || endsSentence(words) || /[:;]$/.test(words)) return "";
  return words.length > LONGEST_LEAD ? `\u2026 ${words.slice(-LONGEST_LEAD).replace(/^\S*\s/, "")}` : words;
}

// Splits a text into [kind, part], where kind is "text", "break" (a line break) or "space" (tabs or several spaces). What
// is behind MOST_PARTS of them is one text: no tokenizer has such a word, but a file may.
export function splitWhitespace(text) {
  const parts = text.split(/(\r?\n|\t+| {2,})/).filter((part) => part !== "");
  const rest = parts.splice(MOST_PARTS).join("");
  return [...parts.map(kindOf), ...(rest ? [["text", rest]] : [])];
}

function kindOf(part) {
  if (part.endsWith("\n")) return ["break", part];
  return [part.startsWith("  ") || part.startsWith("\t") ? "space" : "text", part];
}

// Decides where lines may break: between tokens before or after white space, before CJK characters, and anywhere in a
// run of text that is longer than LONGEST_RUN characters.
export function createLineBreaker() {
  let run = 0; // characters since the last place where a line may break
  let afterSpace = true;
  return {
    // Whether a line may break before the next token, which has this text.
    next(text) {
      const cjk = /^[\u2E80-\uFFDC]/.test(text);
      const free = /^\s/.test(text) || afterSpace || run + text.length > LONGEST_RUN || cjk;
      run = (free ? 0 : run) + text.length;
      afterSpace = /\s$/.test(text);
      return free;
    },
    // A line may break inside this token.
    isLong: (text) => text.length > LONGEST_RUN,
    restart() {
      run = 0;
    },
  };
}

// The direction of a text, from its first letter: "ltr", "rtl", or "" where it has none.
export function directionOf(text) {
  const [letter] = /\p{L}/u.exec(text) ?? [];
  if (!letter) return "";
  return /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/.test(letter) ? "rtl" : "ltr";
}
