// The common start of a finished race. Lanes read the prompt with different models, so some decode earlier than others on
// their own clocks; what is compared is decoding, so all clocks are set so that every lane starts decoding at once.

import { flattenRecords } from "./records.js";

export function alignStarts({ lanes }) {
  const begun = lanes.filter(({ steps }) => steps.length);
  const start = Math.max(...begun.map(startOf));
  for (const lane of begun) delay(lane, start - startOf(lane));
}

// When decoding begins, on the lanes' clocks.
export function commonStart({ lanes }) {
  const begun = lanes.filter(({ steps }) => steps.length);
  return begun.length ? Math.min(...begun.map(startOf)) : 0;
}

function startOf({ steps: [first] }) {
  return first.line.c;
}

function delay(lane, by) {
  if (!by) return;
  for (const line of lane.prefill) line.c += by;
  for (const step of lane.steps) {
    step.line.c += by;
    step.until += by;
    for (const { record } of flattenRecords(step.line.r)) record.c += by;
  }
  for (const spans of [lane.spans, lane.prefillSpans]) {
    for (const [mark, times] of spans) spans.set(mark, times.map((time) => time + by));
  }
  lane.clock += by;
}
