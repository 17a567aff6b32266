// The paper's K as numbers: K[r][c] is the position up to which drafter c writes for reviewer r. Row 0 is the target's,
// row i + 1 that of draft i; the last column is Max-Gram's.

export const LONGEST = 64; // csd.decoding.k_matrix.LONGEST_DRAFT

const isLength = (entry) => Number.isInteger(entry) && entry >= 0 && entry <= LONGEST;

// K from its text, or null where the text is not a K of this size.
export function parseK(text, size) {
  let K;
  try {
    K = JSON.parse(text);
  } catch {
    return null;
  }
  const isRow = (row, r) => Array.isArray(row) && row.length === size && row.every(isLength)
    && row.every((entry, c) => (c < r ? entry === 0 : c === r || entry >= row[c - 1]));
  return Array.isArray(K) && K.length === size && K.every(isRow) && K[0][size - 1] > 0 ? K : null;
}

export const formatK = (K) => JSON.stringify(K);

// K with one end moved. Ends before it that are further go back to it, ends after it that are nearer go on to it.
export function moveEnd(K, r, c, to) {
  const least = r === 0 && c === K.length - 1 ? 1 : 0; // the target must be handed something
  const end = Math.max(least, Math.min(LONGEST, Math.round(to)));
  const row = K[r].map((entry, i) => (i < r ? 0 : i < c ? Math.min(entry, end) : i > c ? Math.max(entry, end) : end));
  return K.map((other, i) => (i === r ? row : other));
}

// How many tokens drafter c adds for reviewer r.
export const budget = (K, r, c) => K[r][c] - (c > r ? K[r][c - 1] : 0);

// For each reviewer, whether it takes part: the target does, and so does whoever is asked by one that does.
export function takesPart(K) {
  const found = K.map((_, r) => r === 0);
  K.forEach((_, r) => {
    for (let c = r; found[r] && c + 1 < K.length; c++) if (budget(K, r, c) > 0) found[c + 1] = true;
  });
  return found;
}

// Parts of the cascade alone, by name. Vertical: each reviewer at work keeps the strongest drafter that it asks, and that
// one its own helper. Horizontal: the zones of the target's block, each written without help. As csd.decoding.methods do it.
export function ablate(K, part) {
  const last = K.length - 1;
  const none = K.map((row) => row.map(() => 0));
  if (part === "vertical") return withoutZones(K, none);
  if (part === "horizontal") return [K[0], ...none.slice(1)];
  if (part === "lookup") return [none[0].map((_, c) => (c === last ? K[0][last] : 0)), ...none.slice(1)];
  return K;
}

function withoutZones(K, none) {
  const found = [...none];
  for (let r = 0, c; r < K.length; r = c + 1) {
    c = K[r].findIndex((end) => end > 0);
    if (c < 0) break;
    found[r] = K[r].map((_, column) => (column < c ? 0 : K[r][c]));
  }
  return found;
}

// Whether two K are one plan: rows of those who take no part do not count.
export function isSamePlan(K, other) {
  const [plan, its] = [K, other].map((one) => one.map((row, r) => (takesPart(one)[r] ? row : 0)));
  return JSON.stringify(plan) === JSON.stringify(its);
}

// The length of the axis: whole eighths of the longest block, with room to draw an end out.
export function axisLength(K) {
  const most = Math.max(...K.flat());
  return Math.min(LONGEST, Math.max(24, 8 * Math.ceil((most + 4) / 8)));
}
