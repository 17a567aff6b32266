// What is known of a token, as rows [name, value] for the tooltip and the line below a review.

import { levelOf } from "./log.js";
import { tokenHistory } from "./records.js";
import { tokenText, visibleText } from "./text.js";

const ROLES = {
  accepted: "accepted by the target",
  correction: "the target's correction",
  bonus: "bonus token (the whole draft was accepted)",
  own: "written without a draft",
};
const FATES = {
  text: "in the text",
  kept: "accepted by the level above",
  rejected: "rejected by the level above",
  unjudged: "discarded because an earlier token was rejected",
};

export function nameWithLevel(race, name) {
  const { label, level, mark } = levelOf(race, name);
  return mark === "T" ? `${label} (T)` : `${label} (level ${level})`;
}

// A token of the text.
export function tokenFacts(race, token) {
  const at = race.open.start + token.position;
  return [
    ...identity(race, token.id, at),
    ["proposed by", nameWithLevel(race, token.who)],
    ["role", ROLES[token.kind]],
    ...historyRows(race, tokenHistory(token.step.line.r, at, token.id)),
  ];
}

// Token j of a run of rejected tokens.
export function rejectedFacts(race, run, j) {
  const at = run.at + j;
  const by = nameWithLevel(race, run.by);
  const history = tokenHistory(run.review, at, run.ids[j]).filter((event) => event.by !== run.by);
  return [
    ...identity(race, run.ids[j], at),
    ["proposed by", nameWithLevel(race, run.who[j])],
    j ? ["discarded", `because ${by} rejected an earlier token`] : ["rejected by", by],
    ...historyRows(race, history),
  ];
}

// Cell j of a box of an opened review.
export function cellFacts(race, step, box, j) {
  const cell = box.cells[j];
  return [
    ...identity(race, cell.id, cell.at),
    [cell.own ? "written by" : "proposed by", nameWithLevel(race, cell.who)],
    ["passed up by", `${nameWithLevel(race, box.record.by)}, round ${box.order + 1}`],
    ["outcome", FATES[cell.fate]],
    ...historyRows(race, tokenHistory(step.line.r, cell.at, cell.id)),
  ];
}

function identity(race, id, at) {
  return [
    ["token", `${visibleText(tokenText(race.pieces, id))}   id ${id}`],
    ["position", `${at - race.open.start} in the answer, ${at} including the prompt`],
  ];
}

function historyRows(race, history) {
  return history.map((event) => {
    const numbers = [["p", event.p], ["q", event.q], ["margin", event.m]]
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => `${name} ${Number(value).toPrecision(3)}`);
    return [event.did, [nameWithLevel(race, event.by), ...numbers].join(", ")];
  });
}
