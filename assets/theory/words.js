// What the curves of a plan say, in sentences. A curve is {xs, ys, at} and, of the cascade, `round` at its current setting.

const ALIKE = 1.05; // speeds that differ by less are told as equal
const PAYS = 1.1; // a highest speed below it is no reason to guess ahead
const LEAST = 0.1; // below it, a digit more

export const speedOf = ({ ys, at }) => ys[at];

// As on the stage, see `times` in csd/stage/headline.py.
export const factor = (value) => `${value.toFixed(value < LEAST ? 2 : 1)}×`;

// What the plan should bring with the current settings: {opens, speed, rest} of one sentence, and whether it `wins`.
export function finding([cascade, speculative]) {
  const [own, other] = [speedOf(cascade), speedOf(speculative)];
  const tell = (rest, wins = false) => ({ opens: `${cascade.alone ? "This plan" : "The cascade"} should be`, speed: factor(own), rest: `as fast as the big model alone${rest}`, wins });
  if (cascade.alone) return tell(tellLengths(cascade, speculative));
  if (Math.max(own, other) < 1 / ALIKE) return tell(tellLost([cascade, speculative]));
  const rival = atItsBest(speculative);
  const ratio = own / rival.speed;
  if (Math.max(ratio, 1 / ratio) < ALIKE) return tell(`, about the same as ${rival.name}.`);
  return ratio > 1 ? tell(`, and ${factor(ratio)} as fast as ${rival.name}.`, own > ALIKE) : tell(`; ${rival.name} should be faster, at ${factor(rival.speed)}.`);
}

// Speculative decoding as it is set, or with another number of guesses that should be clearly faster: {name, speed}.
function atItsBest({ xs, ys, at }) {
  const best = ys.indexOf(Math.max(...ys));
  const isOther = ys[best] > ys[at] * ALIKE;
  return { name: `speculative decoding${isOther ? ` with k = ${xs[best]}` : ""}`, speed: isOther ? ys[best] : ys[at] };
}

// The same as the title of the figure.
export function headline(curves) {
  const { opens, speed, rest } = finding(curves);
  return `${opens} ${speed} ${rest}`;
}

// A plan in which one drafter guesses, and nobody for it, is no cascade.
function tellLengths(plan, speculative) {
  const guesses = `${plan.alone} ${plan.alone === 1 ? "guess" : "guesses"}`;
  return `. It is speculative decoding with ${guesses}: ${factor(speedOf(plan) / speedOf(speculative))} as fast as with ${speculative.at + 1}.`;
}

// Where neither pays as it is set: whether another first number would.
function tellLost(curves) {
  const best = curves.reduce((one, other) => (Math.max(...other.ys) > Math.max(...one.ys) ? other : one));
  const highest = Math.max(...best.ys);
  if (highest < 1) return ": with these numbers, guessing ahead does not pay.";
  const other = best.xs[best.ys.indexOf(highest)] < best.xs[best.at] ? "fewer" : "more";
  return `: this plan does not pay. Guessing ${other} tokens would${highest < PAYS ? " break even" : ""}.`;
}

// What the cascade's speed is made of, and whether another first number would be better.
export const explain = (curves) => [`A step of this cascade brings ${tellStep(curves[0].round)}`, tellBetter(curves)].filter(Boolean).join(" ");

// What a step brings, as the end of a sentence.
export function tellStep({ tokens, passes }) {
  const [brought, runs] = countsOf(tokens, passes);
  return `${brought} tokens; the big model alone writes ${runs} in that time. ${brought} / ${runs} = ${factor(tokens / passes)}.`;
}

const DIGITS = [1, 2, 3, 4]; // after the point

// Both with the fewest digits with which whoever divides them finds the speed-up that is told.
export function countsOf(tokens, passes) {
  const written = DIGITS.map((digits) => [tokens, passes].map((count) => count.toFixed(digits)));
  return written.find(([brought, runs]) => factor(brought / runs) === factor(tokens / passes)) ?? written.at(-1);
}

// Of each curve, whether another length would be better; empty where none is.
export function tellBetter([cascade, speculative]) {
  const [own, other] = [bestOf(cascade), speculative && bestOf(speculative)];
  const first = own && `With ${own.x} ${own.x === 1 ? "guess" : "guesses"} first, the cascade would be ${own.told}`;
  if (!other) return first ? `${first}.` : "";
  return `${first ? `${first}; speculative decoding` : "Speculative decoding would be"} ${other.told} with k = ${other.x}.`;
}

function bestOf({ xs, ys, at }) {
  const highest = Math.max(...ys);
  return factor(highest) === factor(ys[at]) ? null : { x: xs[ys.indexOf(highest)], told: factor(highest) };
}

const percent = (share) => `${Math.round(100 * share)}%`;

// The picture of a step for those who do not see it: `chances` are those of its guesses, by position.
export function tellGuesses(chances) {
  const guessed = chances.map((chance, i) => `${i + 1}: ${percent(chance)}`).filter((told) => !told.endsWith(": 0%"));
  return `How often the guess at each position is kept: ${guessed.join(", ") || "never"}. The big model adds a token of its own.`;
}

export const LATER = "Each guess costs time, but later ones are kept less often: more pay only up to a point.";

// Where guesses go past the `planned` ones, up to `last`, why they do. `role` is who hands them up.
export function tellPast(planned, last, role) {
  if (last <= planned) return "";
  const past = last === planned + 1 ? `Guess ${last} goes` : `Guesses ${planned + 1} to ${last} go`;
  return `${past} past the plan\u2019s ${planned}: the ${role} checks in groups, and adds a token of its own to each.`;
}

// What each level costs in a step: {name, role, told, runs, cost}, the cost null for one that takes no part.
export function costRows({ runs, review }, levels, target) {
  const rows = levels.map(({ name, role }) => {
    const { count, each, cost } = runs[name] ?? {};
    if (!count) return { name, role, told: "takes no part", runs: 0, cost: null };
    return { name, role, told: name === "MaxGram" ? "lookups, counted as free" : `${count.toFixed(1)} runs × ${each}`, runs: count, cost };
  });
  const more = review.each && review.guesses ? `, and ${review.guesses.toFixed(1)} guesses × ${review.each}` : "";
  return [...rows, { name: "T", role: target, told: `1 run${more}`, runs: 1, cost: review.cost }];
}

// Whose the speed-up is that the Race tab shows in large type, see csd/stage/headline.py; nothing where that race had the plan
// of the chart, `isRaced`, which shows it.
export function tellWhose(measured, isRaced) {
  const [fixed, adaptive] = ["cascade", "adaptive cascade"].map((method) => measured.find(({ name }) => name === method));
  const missing = "this plan was not in that race";
  if (!measured.length || isRaced) return "";
  if (fixed) return `The Race tab\u2019s ${factor(fixed.speedup)} is another plan\u2019s, measured.`;
  return adaptive ? `The Race tab\u2019s ${factor(adaptive.speedup)} is the adaptive cascade\u2019s, measured; ${missing}.` : `Predicted only: ${missing}.`;
}

const CALLED = { cascade: "The cascade", speculative: "Speculative decoding" };

// Why lanes of a race were not as fast as predicted, unless another plan or other numbers are set, `isAway`; and what is to be
// said of an adaptive lane.
export function tellGaps(measured, isAway = false) {
  const abouts = measured.map(({ about }) => about);
  if (isAway) return abouts.filter(Boolean).join(" ");
  const off = measured.filter(({ gap }) => gap).map(({ name, predicted, speedup, gap }) => (
    { name, told: `${speedup > predicted ? "faster" : "slower"} in the race than predicted: ${gap}.` }));
  const isSame = off.length > 1 && off.every(({ told }) => told === off[0].told);
  const gaps = isSame ? [`Both were ${off[0].told}`] : off.map(({ name, told }) => `${CALLED[name]} was ${told}`);
  return [...gaps, ...abouts].filter(Boolean).join(" ");
}

// What the axis of the chart counts: the first of the cascade's stages guesses first there, `draft` in speculative decoding.
export const tellOver = ([{ name }], draft, roles) => `guesses of the ${name === draft ? roles[draft] : "first guesser"}, k`;

// What the bars at the open symbols are.
export const RANGE = "middle 80% of races";

// Where the predicted curves come from: `isMoved` is {plan, numbers}. A race that was stopped has measured less.
export function describeSource({ isMeasured, wasStopped }, isMoved) {
  if (isMoved.numbers) return "predicted from your numbers";
  if (!isMeasured) return `predicted from usual numbers: ${wasStopped ? "the race was stopped before it had measured these models" : "no race has measured these models yet"}`;
  const [how, source] = wasStopped ? ["predicted roughly", "the averages of a stopped race"] : ["predicted", "the race\u2019s averages"];
  return isMoved.plan ? `${how} for your plan` : `${how} from ${source}`;
}
