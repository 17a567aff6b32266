// What a cascade is, in place of a step until there is one to look at: or what one without a plan is, where no other one runs.

import { h } from "./dom.js";
import { levelMarks } from "./log.js";
import { term } from "./terms.js";

const ADAPTIVE = "adaptive cascade";

export const createExplanation = () => ({ box: h("p", { class: "cs-how" }), of: null }); // the race that it is about

export function drawExplanation({ explanation, race }) {
  if (explanation.of === race.open) return;
  explanation.of = race.open;
  const methods = race.lanes.map(({ info }) => info.method);
  const isAdaptive = methods.includes(ADAPTIVE);
  const hasPlan = methods.some((method) => method.endsWith("cascade") && method !== ADAPTIVE);
  explanation.box.replaceChildren(...(isAdaptive && !hasPlan ? withoutPlan(race) : withPlan(race)));
}

// Beside the words stand the two pictures of them: the levels above each other, and the guessers one after another.
function withPlan(race) {
  const levels = levelMarks(race);
  const pile = (name, looks) => h("span", { class: `cs-pile ${name}`, "aria-hidden": "true" }, ...looks.map(({ look }) => h("i", { class: "cs-swatch", "data-look": look })));
  const guessers = levels.filter(({ mark }) => mark !== "T");
  return [h("b", { text: "What is a cascade?" }), " ", pile("cs-upwards", levels), term("vertical cascade", "Vertical"), ": bigger models check smaller ones. ",
    pile("cs-across", guessers), term("horizontal cascade", "Horizontal"), ": stronger guessers for the first tokens, cheaper ones for the rest. "];
}

function withoutPlan(race) {
  const guessers = levelMarks(race).filter(({ mark }) => mark !== "T").reverse().map(({ role }) => `the ${role}`);
  const named = [guessers.slice(0, -1).join(", "), guessers.at(-1)].filter(Boolean).join(" or ");
  return [h("b", {}, "What is an ", term(ADAPTIVE), "?"), ` This project\u2019s own: before each guess it picks who makes it${named && `, here ${named}`}. The big model checks every guess.`];
}
