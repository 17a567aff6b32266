// What is known of a token, as rows [name, value] for the tooltip and the line below a review.

import { levelOf } from "./log.js";
import { tokenHistory } from "./records.js";
import { tokenText, visibleText } from "./text.js";

const KINDS = {
  accepted: "accepted by the big model",
  correction: "the big model's correction",
  bonus: "bonus token (the whole draft was accepted)",
  own: "written without a draft",
};
const FATES = {
  text: "in the text",
  kept: "accepted by the level above",
  rejected: "rejected by the level above",
  unjudged: "discarded because an earlier token was rejected",
};

export function nameWithRole(race, name) {
  const { label, role } = levelOf(race, name);
  return `${role} (${label})`;
}

// A token of the text.
export function tokenFacts(race, token) {
  const at = race.open.start + token.position;
  return [
    ...identity(race, token.id, at),
    ["proposed by", nameWithRole(race, token.who)],
    ["role", KINDS[token.kind]],
    ...historyRows(race, tokenHistory(token.step.line.r, at, token.id)),
  ];
}

// Token j of a run of rejected tokens.
export function rejectedFacts(race, run, j) {
  const at = run.at + j;
  const by = nameWithRole(race, run.by);
  const history = tokenHistory(run.review, at, run.ids[j]).filter((event) => event.by !== run.by);
  return [
    ...identity(race, run.ids[j], at),
    ["proposed by", nameWithRole(race, run.who[j])],
    j ? ["discarded", `an earlier token was rejected by ${by}`] : ["rejected by", by],
    ...historyRows(race, history),
  ];
}

// Cell j of a box of an opened review.
export function cellFacts(race, step, box, j) {
  const cell = box.cells[j];
  return [
    ...identity(race, cell.id, cell.at),
    [cell.own && cell.own !== "copied" ? "written by" : "proposed by", nameWithRole(race, cell.who)],
    ["passed up by", `${nameWithRole(race, box.record.by)}, round ${box.order + 1}`],
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
    return [event.did, [nameWithRole(race, event.by), ...numbers].join(", ")];
  });
}
