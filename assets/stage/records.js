// Reviews and proposals as the log writes them (see csd/stage/log.py), and what can be read from one alone.
//
//   proposal  {by, at, x, who, c, d}                   tokens x that `by` drafted from position `at` on
//   review    {..., ok, y, in, p, q, m, s}             `by` accepted the first `ok` tokens of x and added its own, y

export function isReview(record) {
  return record.ok !== undefined;
}

export function authorOf(record, j) {
  return typeof record.who === "string" ? record.who : record.who[j];
}

export function tokensOf(record) {
  return record.x || [];
}

// Whether a level below the outermost one reviewed a draft, which makes a cascade vertical.
export function hasInnerReview(review) {
  return (review.in || []).some((inner) => isReview(inner) && (inner.x || hasInnerReview(inner)));
}

// How many tokens a record passes up to the review above it.
export function countPassedUp(record) {
  return isReview(record) ? record.ok + (record.y === undefined ? 0 : 1) : tokensOf(record).length;
}

// A review and all that is inside it as {record, parent}, in the order in which they ended: inner ones first.
export function flattenRecords(record, parent = null) {
  const inner = (record.in || []).flatMap((one) => flattenRecords(one, record));
  return [...inner, { record, parent }];
}

// What token j counted from the start of a review is to its reviewer: "accepted", "correction" (after a rejection),
// "bonus" (after a whole draft) or "own" (without a draft).
export function tokenKind(review, j) {
  if (j < review.ok) return "accepted";
  if (!review.x) return "own";
  return review.ok < review.x.length ? "correction" : "bonus";
}

// Every run of tokens that a review in here did not accept, with the position where the first of them was rejected.
// `inner` is 0 for those that the outermost review rejected, else 1.
export function rejectedRuns(review, outermost = review) {
  const runs = (review.in || []).filter(isReview).flatMap((inner) => rejectedRuns(inner, outermost));
  const ids = tokensOf(review).slice(review.ok);
  if (ids.length) {
    const who = ids.map((_, j) => authorOf(review, review.ok + j));
    runs.push({ at: review.at + review.ok, ids, who, by: review.by, inner: review === outermost ? 0 : 1, review });
  }
  return runs;
}

// What happened to a token in every record that contains it, inner ones first: [{by, did, p, q, m}].
export function tokenHistory(record, at, id) {
  const events = (record.in || []).flatMap((inner) => tokenHistory(inner, at, id));
  const j = at - record.at;
  if (tokensOf(record)[j] === id) {
    if (!isReview(record)) events.push({ by: record.by, did: "proposed" });
    else events.push({ by: record.by, did: judgement(record, j), p: (record.p || [])[j], q: (record.q || [])[j] });
  }
  if (isReview(record) && record.y === id && j === record.ok) {
    const kind = tokenKind(record, j);
    events.push({ by: record.by, did: kind === "own" ? "wrote" : `wrote as ${kind}`, m: record.m });
  }
  return events;
}

// The drafts that a review was shown, neighbours of one drafter as one group: [{by, records, from, to}] in positions.
export function draftGroups(review) {
  const groups = [];
  let at = review.at;
  for (const record of review.in || []) {
    const n = countPassedUp(record);
    const before = groups[groups.length - 1];
    if (before && before.by === record.by) {
      before.records.push(record);
      before.to += n;
    } else groups.push({ by: record.by, records: [record], from: at, to: at + n });
    at += n;
  }
  return groups;
}

function judgement(review, j) {
  if (j < review.ok) return "accepted";
  return j === review.ok ? "rejected" : "did not check";
}
