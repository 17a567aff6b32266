// What is known of a token, as rows [name, value] for the tooltip; the first one, without a name, is a sentence.

import { levelOf } from "./log.js";
import { capitalize, nameOf } from "./narrate.js";
import { tokenHistory } from "./records.js";
import { tokenText, visibleText } from "./text.js";

const DEEDS = { // of `tokenHistory`
  proposed: "guessed by", accepted: "accepted by", rejected: "rejected by", "did not check": "not checked by",
  wrote: "written by", "wrote as correction": "corrected by", "wrote as bonus": "added by",
};
const ENDS = {
  accepted: "accepted it",
  correction: "wrote it itself, in place of a wrong guess",
  bonus: "added it: all guesses before it were right",
  own: "wrote it itself, without a guess",
};

// A token of the text.
export function tokenFacts(race, token) {
  const at = race.open.start + token.position;
  const history = tokenHistory(token.step.line.r, at, token.id);
  const last = token.step.line.r.by;
  const checks = history.filter(({ did, by }) => did === "accepted" && by !== last).map(({ by }) => by);
  const isMended = history.some(({ did, by }) => did === "wrote as correction" && by === token.who);
  const began = isMended ? `${capitalize(nameOf(race, token.who))} wrote this in place of a wrong guess` : guessed(race, token.who);
  const said = token.kind === "accepted" && token.who !== last
    ? `${began}; ${list([...checks, last].map((name) => nameOf(race, name)))} ${ENDS.accepted}.`
    : `${capitalize(nameOf(race, last))} ${ENDS[token.kind]}.`;
  return [["", said], ...identity(race, token.id, at), ...historyRows(race, history)];
}

// Token j of a run of rejected tokens.
export function rejectedFacts(race, run, j) {
  const at = run.at + j;
  const history = tokenHistory(run.review, at, run.ids[j]);
  const end = j ? "it was dropped, because a guess before it was wrong" : `${nameOf(race, run.by)} rejected it`;
  return [["", `${guessed(race, run.who[j])}; ${end}.`], ...identity(race, run.ids[j], at), ...historyRows(race, history)];
}

// Cell j of a box of an opened review.
export function cellFacts(race, step, box, j) {
  const cell = box.cells[j];
  const isOwn = cell.own && cell.own !== "copied";
  const wrote = isOwn ? `${capitalize(nameOf(race, cell.who))} wrote it` : guessed(race, cell.who);
  const above = box.parent ? nameOf(race, box.parent.by) : "";
  const end = { text: "", kept: `; ${above} kept it`, rejected: `; ${above} rejected it`, unjudged: "; it was dropped, because a guess before it was wrong" };
  return [
    ["", `${wrote}${end[cell.fate] || ""}.`],
    ...identity(race, cell.id, cell.at),
    ["move", `${box.order + 1}, of ${nameOf(race, box.record.by)}`],
    ...historyRows(race, tokenHistory(step.line.r, cell.at, cell.id)),
  ];
}

// Max-Gram copies what followed the same words before; where nothing does, its bigrams have the usual next token.
function guessed(race, name) {
  const who = capitalize(nameOf(race, name));
  if (name === "MaxGram") return `${who} copied it, as it followed the same words before`;
  return name === "Bigram" ? `${who} found nothing to copy, so it guessed the token that usually comes next` : `${who} guessed it`;
}
const list = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`);

function identity(race, id, at) {
  return [
    ["token", visibleText(tokenText(race.pieces, id))],
    ["position", `${at - race.open.start + 1} in the answer, ${at + 1} including the prompt`],
  ];
}

// Who did the same one after another is told in one row.
function historyRows(race, history) {
  const rows = [];
  for (const event of history) {
    const numbers = [["p", event.p], ["q", event.q]]
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => `${name} ${Number(value).toPrecision(3)}`);
    const [deed, told] = [DEEDS[event.did], [nameOf(race, event.by), ...numbers].join(", ")];
    const last = rows.at(-1);
    if (last?.[0] === deed) last[1] += `; ${told}`;
    else rows.push([deed, told]);
  }
  return rows;
}
