// Reviews in plain sentences.

import { authorOf, countPassedUp, draftGroups, isReview, tokensOf } from "./records.js";
import { countTokens } from "./format.js";
import { levelOf } from "./log.js";
import { quoteToken } from "./text.js";

// What happened in one round, without a full stop: "the small model checked 2 guesses, kept 1 and ...".
export function tellRound(race, record) {
  const by = nameOf(race, record.by);
  const n = tokensOf(record).length;
  if (!isReview(record)) return n ? tellProposals(race, [record]) : `${by} found nothing to copy`;
  if (record.s) return `${by} was skipped: ${record.s}`;
  const own = ownToken(race, record);
  if (!n) return own ? `${by} wrote ${own} on its own` : `${by} wrote nothing`;
  const seen = `${by} checked ${countGuesses(n)}`;
  if (record.ok < n) return `${seen}, ${tellCorrection(race, record)}`;
  return `${seen}, kept ${n === 1 ? "it" : "all"}${tellBonus(own)}`;
}

// The same as a sentence.
export function tellRoundSentence(race, record) {
  return `${capitalize(tellRound(race, record))}.`;
}

// What happened in a review of the target: what came of it, then who drafted.
export function tellReview(race, step) {
  return `${tellResult(race, step)}${tellDrafts(race, step)}`;
}

export function tellResult(race, { line: { r: root } }) {
  return `${capitalize(nameOf(race, root.by))} ${tellOutcome(race, root)}.`;
}

// With a space before it; nothing where nobody drafted.
export function tellDrafts(race, step) {
  const groups = draftGroups(step.line.r);
  const isLong = groups.length > 1 && groups.some(({ records }) => records.length > 1);
  if (isLong) return ` The guesses came from ${list(groups.map((group) => tellShare(race, group)))}.`;
  return groups.length ? ` Before that, ${groups.map((group) => tellGroup(race, group)).join(". Then ")}.` : "";
}

function tellOutcome(race, root) {
  const n = tokensOf(root).length;
  const own = ownToken(race, root);
  if (!n) return `ran without a guess and wrote ${own}`;
  const seen = `checked ${countGuesses(n)} in one run:`;
  if (root.ok < n) {
    const rejected = quoteToken(race.pieces, root.x[root.ok]);
    const change = own ? `${own} replaced ${rejected}` : `${rejected} was rejected`;
    return `${seen} ${tellKept(root.ok, n)}, and ${change}`;
  }
  return `${seen} ${n === 1 ? "it was" : "all were"} kept${own ? `, and it added ${own}` : "; the text ends there"}`;
}

function tellKept(ok, n) {
  if (ok > 1) return `the first ${ok} were kept`;
  if (ok) return "the first was kept";
  return n === 1 ? "it was rejected" : "none was kept";
}

// "the small model (8, 2 of them its own)".
function tellShare(race, { by, records }) {
  const [all, own] = [sum(records, countPassedUp), countOwn(records)];
  const its = own === all ? "all its own" : own ? `${own} of them its own` : "none of them its own";
  return `${nameOf(race, by)} (${all}${records.every(isReview) ? `, ${its}` : ""})`;
}

function countOwn(records) {
  return sum(records, (one) => (one.y === undefined ? 0 : 1));
}

// Neighbouring rounds of one drafter.
function tellGroup(race, { by, records }) {
  if (records.length === 1) return tellRound(race, records[0]);
  if (!isReview(records[0])) return tellProposals(race, records);
  const seen = sum(records, (one) => tokensOf(one).length);
  const wrote = `${nameOf(race, by)} wrote ${countTokens(sum(records, countPassedUp))}`;
  if (!seen) return `${wrote}, one at a time`;
  const kept = sum(records, (one) => one.ok);
  const added = countOwn(records);
  const theirs = records.flatMap((one) => authorsOf(one).slice(0, one.ok));
  const parts = [added && `${added} of its own`, kept && `${kept} that ${listNames(race, theirs)} guessed`].filter(Boolean);
  return `${wrote} in ${records.length} runs${parts.length ? ": " : ""}${parts.join(", and ")}`;
}

function tellProposals(race, records) {
  const authors = records.flatMap(authorsOf);
  return `${listNames(race, authors)} ${verbOf(authors)} ${countTokens(sum(records, countPassedUp))}`;
}

// "the tiny model and the copier".
function listNames(race, authors) {
  return list([...new Set(authors.map((name) => nameOf(race, name)))]);
}

function list(words) {
  return [words.slice(0, -1).join(", "), ...words.slice(-1)].filter(Boolean).join(" and ");
}

function tellCorrection(race, review) {
  const rejected = quoteToken(race.pieces, review.x[review.ok]);
  const own = ownToken(race, review);
  const kept = `kept ${review.ok || "none"} and`;
  return own ? `${kept} replaced ${rejected} with ${own}` : `${kept} rejected ${rejected}`;
}

function tellBonus(own) {
  return own ? ` and added ${own}` : "; the text ends there";
}

function ownToken(race, review) {
  return review.y === undefined ? "" : quoteToken(race.pieces, review.y);
}

function authorsOf(record) {
  return tokensOf(record).map((_, j) => authorOf(record, j));
}

// What the statistical level did: Max-Gram copies, its fallback guesses.
function verbOf(authors) {
  if (authors.every((name) => name === "MaxGram")) return "copied";
  return authors.every((name) => name === "Bigram") ? "found nothing to copy and guessed what usually comes next:" : "guessed";
}

// Levels are called by their role; one of many drafts has a number for a name.
export function nameOf(race, name) {
  const { role } = levelOf(race, name);
  return /\d$/.test(role) ? role : `the ${role}`;
}

function countGuesses(n) {
  return n === 1 ? "one guess" : `${n} guesses`;
}

export function capitalize(text) {
  return text[0].toUpperCase() + text.slice(1);
}

function sum(list, value) {
  return list.reduce((total, one) => total + value(one), 0);
}
