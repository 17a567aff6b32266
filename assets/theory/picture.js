// One step as an equation: its tokens, with the guesses by position and how much of each is kept, over its time, with what
// each level costs on an axis, is the speed-up. Its parts stay where they are while the sliders move.

import { ticks } from "./chart.js";
import { modelOf } from "./curves.js";
import { stagesOf } from "./prediction.js";
import { stepOf, total } from "./step.js";
import { costRows, countsOf, factor, LATER, tellGuesses, tellPast, tellStep } from "./words.js";

const RARE = 0.02; // a place beyond the plan that is written less often is not drawn
const GROUP = 2; // the row of places grows by so many at once
const NUMBERS = 6; // of the places have their numbers
const NAME = 0.21; // of the row: a place that is nearer to the last one has no number, since the last one's name is there
const BIG = "T"; // the name and the look of the big model
const NOTE = "On the left, how often each guess is kept (pale: thrown away); on the right, what the step costs.";
const RUN = 0.012; // of the axis: narrower runs are drawn as one

// A value is {drafts, levels: [{name, role, look}], target, K, sliders}: the strongest level first, and `target` what the big model
// is called. `parseK` is that of controls/cumulative.js. Returns a function that shows another value.
export function startStep(root, value, parseK) {
  const view = { end: 0, K: null, ...build(root) };
  const show = (next) => {
    view.K = next?.K ?? view.K; // stays for a race that had none
    const K = next?.sliders.groups.length && view.K !== null && parseK(view.K, next.drafts.length + 1);
    if (K) draw(view, next, stagesOf(next.drafts, K), modelOf(next.sliders));
  };
  show(value);
  return show;
}

function build(root) {
  const [told, said, past] = ["told", "said", "past"].map((name) => make("p", `step-${name}`));
  const title = make("summary", "", "");
  said.textContent = LATER;
  const [places, axis, bar, rows] = ["places", "axis", "bar", "rows"].map((name) => make("div", `step-${name}`));
  const [tokens, runs, speed] = Array.from({ length: 3 }, () => make("b", ""));
  const sum = (number, name) => make("div", "step-sum", number, name);
  const sign = (text) => make("span", "step-sign", text);
  const drawn = make("div", "step-drawn", sum(tokens, "tokens"), places, sign("÷"), sum(runs, "runs"),
    make("div", "step-time", bar, axis), sign("="), sum(speed, "speed-up"));
  drawn.setAttribute("role", "img");
  told.textContent = NOTE;
  root.replaceChildren(make("details", "step-fold", title, told, drawn, rows, said, past));
  return { title, said, places, axis, bar, rows, tokens, runs, speed, drawn, past };
}

function draw(view, { levels, target }, stages, model) {
  const step = stepOf(stages, model);
  const looks = { ...Object.fromEntries(levels.map(({ name, look }) => [name, look])), [BIG]: BIG };
  view.title.textContent = `One step, predicted: ${tellStep(step)}`;
  view.drawn.setAttribute("aria-label", tellGuesses(step.guesses.map(({ kept }) => total(kept))));
  [view.tokens.textContent, view.runs.textContent] = countsOf(step.tokens, step.passes);
  view.speed.textContent = factor(step.tokens / step.passes);
  const planned = stages.reduce((sum, { k }) => sum + k, 0);
  const guesses = step.guesses.filter(({ written }, i) => i < planned || total(written) >= RARE);
  drawPlaces(view.places, guesses, levels, looks);
  const rows = costRows(step, levels, target);
  view.end = axisEnd(step.passes, view.end);
  view.bar.replaceChildren(...rows.filter(({ cost }) => cost > 0).map((row) => drawTime(row, looks, view.end)));
  view.axis.replaceChildren(...ticks(view.end, 4).map((at) => {
    const tick = make("span", "", `${at}`);
    tick.style.left = `${(100 * at) / view.end}%`;
    return tick;
  }));
  view.past.textContent = tellPast(planned, guesses.length, levels.find(({ name }) => guesses[planned]?.written[name])?.role);
  view.said.toggleAttribute("data-idle", !rows.some(({ name, cost }) => name !== BIG && cost > 0));
  view.rows.replaceChildren(...rows.map(({ name, role, told, cost }) => {
    const row = make("p", "", make("span", "step-name", mark(looks[name], "i"), role), make("span", "", told), make("b", "", cost === null ? "" : cost.toFixed(2)));
    row.toggleAttribute("data-idle", cost === null);
    return row;
  }));
}

// A column for each place, of which the lower, solid part is kept; then the big model's own token.
function drawPlaces(root, guesses, levels, looks) {
  const slots = GROUP * Math.max(2, Math.ceil((guesses.length + 1) / GROUP));
  const every = Math.ceil(slots / NUMBERS);
  const columns = guesses.map((guess, i) => {
    const parts = levels.toReversed().flatMap(({ name }) => lost(guess, name, looks)).concat(levels.toReversed().flatMap(({ name }) => kept(guess, name, looks)));
    const column = make("div", "step-place", ...parts);
    if (i % every === 0 && slots - 1 - i > NAME * slots) column.append(make("span", "step-position", `${i + 1}`));
    return column;
  });
  const own = make("div", "step-place", part(1, BIG, "kept"), make("span", "step-position", "big model"));
  own.toggleAttribute("data-own", true);
  root.style.setProperty("--slots", slots);
  root.replaceChildren(...columns, own);
}

const kept = (guess, name, looks) => (guess.kept[name] > 0 ? [part(guess.kept[name], looks[name], "kept")] : []);

const lost = ({ written, kept: good }, name, looks) => (written[name] > 0 ? [part(written[name] - good[name], looks[name], "lost")] : []);

function part(share, look, kind) {
  const element = mark(look, "div");
  element.dataset.kind = kind;
  element.style.height = `${(100 * share).toFixed(2)}%`;
  return element;
}

function drawTime({ name, role, runs, cost }, looks, end) {
  const element = mark(looks[name], "div");
  element.style.width = `${((100 * cost) / end).toFixed(2)}%`;
  if (name !== BIG && cost / runs / end >= RUN) element.style.setProperty("--run", `${(100 / runs).toFixed(3)}%`);
  element.append(make("span", "", role));
  return element;
}

// The axis doubles where the bar leaves it, and shrinks where the bar takes little of it.
export function axisEnd(passes, before) {
  return passes > before || passes < before / 4 ? Math.max(2, 2 ** Math.ceil(Math.log2(passes))) : before;
}

function mark(look, tag) {
  const element = document.createElement(tag);
  element.dataset.look = look;
  return element;
}

function make(tag, kind, ...children) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...children);
  return element;
}
