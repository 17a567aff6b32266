// Numbers as they are shown.

// In the unit that suits `whole`, so that what stands in one column has one unit; below a second that is ms, as of a step.
export function formatSeconds(value, whole = value) {
  if (value && value < 0.00005 && whole < 0.1) return "<0.1 ms";
  if (whole < 1) return `${(value * 1000).toFixed(whole < 0.1 ? 1 : 0)} ms`;
  return whole < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(1)} s`;
}

// The position in a replay since `begin`, where the prompt had been read; in the unit of the longest lane.
export function formatPosition(now, total, begin) {
  const whole = total - begin;
  const [number, unit] = formatSeconds(whole).split(" ");
  const position = formatSeconds(Math.max(0, now - begin), whole).split(" ")[0];
  return `${position} of ${number} ${unit}`;
}

// A factor of speed, as in the headline: "2.9\u00D7", and "0.08\u00D7" where one decimal would be nothing; of the big model alone, "1\u00D7".
export function formatRatio(value) {
  if (value === 1) return "1\u00D7";
  return `${value.toFixed(value < 0.1 ? 2 : 1)}\u00D7`;
}

// Tokens per second.
export function formatRate(value) {
  return value < 10 ? value.toFixed(1) : value.toFixed(0);
}

export function formatPercent(part, whole) {
  return `${Math.round((100 * part) / whole)}%`;
}

// The shares of counts in whole percent, which add to 100: what rounding down leaves goes to the largest remainders.
export function percentages(counts) {
  const sum = counts.reduce((total, count) => total + count, 0);
  if (!sum) return counts.map(() => 0);
  const exact = counts.map((count) => (100 * count) / sum);
  const whole = exact.map(Math.floor);
  const left = 100 - whole.reduce((total, percent) => total + percent, 0);
  const order = [...counts.keys()].sort((a, b) => exact[b] - whole[b] - (exact[a] - whole[a]) || counts[b] - counts[a]);
  for (const i of order.slice(0, left)) whole[i] += 1;
  return whole;
}

// "3 prompt tokens", "1 token".
export function countTokens(n, kind = "") {
  return `${n} ${kind}${kind && " "}token${n === 1 ? "" : "s"}`;
}

// How often a level ran, as a model; the statistical level (mark "0") looks up.
export function countRuns(n, mark) {
  if (mark === "0") return `${n} lookup${n === 1 ? "" : "s"}`;
  return `${n} run${n === 1 ? "" : "s"}`;
}
