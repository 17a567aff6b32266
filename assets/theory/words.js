// What the curves of a plan say, in sentences. A curve is {xs, ys, at} and, of the cascade, `round` at its current setting.

const ALIKE = 1.05; // speeds that differ by less are told as equal
const PAYS = 1.1; // a highest speed below it is no reason to guess ahead
const SLOW = 0.95; // below it, a digit more

export const speedOf = ({ ys, at }) => ys[at];

// As on the stage: a lane that is slower than the big model has two digits.
export const factor = (value) => `${value.toFixed(value < SLOW ? 2 : 1)}×`;

// How the two compare with the current settings: the title of the figure.
export function headline([cascade, speculative]) {
  if (Math.max(speedOf(cascade), speedOf(speculative)) < 1 / ALIKE) return lost([cascade, speculative]);
  const ratio = speedOf(cascade) / speedOf(speculative);
  if (Math.max(ratio, 1 / ratio) < ALIKE) return "The fixed-plan cascade and speculative decoding should be about equally fast.";
  const [fast, slow] = ratio > 1 ? ["The fixed-plan cascade", "speculative decoding"] : ["Speculative decoding", "the fixed-plan cascade"];
  return `${fast} should be ${Math.max(ratio, 1 / ratio).toFixed(2)} times as fast as ${slow}.`;
}

// Where neither pays as it is set: whether another first number would.
function lost(curves) {
  const best = curves.reduce((one, other) => (Math.max(...other.ys) > Math.max(...one.ys) ? other : one));
  const highest = Math.max(...best.ys);
  if (highest < 1) return "With these numbers, guessing ahead should not pay: the big model alone is fastest.";
  const other = best.xs[best.ys.indexOf(highest)] < best.xs[best.at] ? "fewer" : "more";
  return `With this plan, guessing ahead should not pay; guessing ${other} tokens would${highest < PAYS ? " make little difference" : ""}.`;
}

// What the cascade's speed is made of, and whether another first number would be better.
export function explain([{ xs, ys, at, round }]) {
  const [tokens, runs] = [round.tokens, round.passes].map((count) => count.toFixed(ys[at] < SLOW ? 2 : 1));
  const said = `A step of this cascade brings ${tokens} tokens in the time of ${runs} runs of the big model: ${tokens} / ${runs} = ${factor(ys[at])}.`;
  const highest = Math.max(...ys);
  const best = xs[ys.indexOf(highest)];
  const isBest = factor(highest) === factor(ys[at]);
  const better = `With ${best} ${best === 1 ? "token" : "tokens"} guessed first it would be ${factor(highest)}.`;
  return isBest ? said : `${said} ${better}`;
}

const CALLED = { cascade: "fixed-plan cascade", speculative: "speculative decoding" };

// The theory checked on a race: for each of its lanes [name, predicted, measured, why they are far apart].
export function checkLanes(measured) {
  return measured.map(({ name, predicted, speedup, gap }) => [CALLED[name] ?? name, predicted ? factor(predicted) : "\u2013", factor(speedup), gap ? `${speedup > predicted ? "faster" : "slower"}: ${gap}` : ""]);
}

// Where the predicted curves come from: `isMoved` is {plan, numbers}.
export function describeSource(isMeasured, isMoved) {
  if (isMoved.numbers) return "predicted, from numbers that you assume";
  if (!isMeasured) return "predicted, from usual numbers: no race has measured these models yet";
  return isMoved.plan ? "predicted for your plan, from what the race measured" : "predicted, from what the race measured";
}
