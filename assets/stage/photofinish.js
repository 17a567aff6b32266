// The photo finish: what every lane had written when the first one was done. Each bar is pale beyond that, so that the lengths at
// the end of a race tell the speeds.

import { h, put } from "./dom.js";
import { formatSeconds } from "./format.js";
import { isPlain } from "./log.js";

const SHORT = 0.17; // of a bar: the count stands beyond the filled part where there is at least that much
const TIGHT = 0.3; // of a bar: room for a count, and for no more

// `count` says how many tokens a lane had written.
export function createPhoto() {
  const [written, all] = [h("span"), h("span", { class: "cs-late-all" })]; // the second is left out where bars are short
  return { written, all, count: h("span", { class: "cs-late-count" }, written, all) };
}

// The lane whose text was complete first, or null: times compare only where all lanes wrote equally many tokens, and a picture
// in which a lane had written nothing yet would look like a failure.
export function firstDone({ lanes }) {
  const done = lanes.filter(({ end }) => end && end !== "stopped");
  const [one] = done;
  if (lanes.length < 2 || !one || done.some((lane) => lane.tokens.length !== one.tokens.length)) return null;
  if (done.length < lanes.length && lanes.some(({ end, info }) => end === "stopped" || info.max !== one.tokens.length)) return null;
  const best = done.reduce((first, lane) => (lane.decodeSeconds < first.decodeSeconds ? lane : first));
  return done.every((lane) => writtenBy(lane, best.decodeSeconds)) ? best : null;
}

// Fades a lane's bar from where the lane was then; `first` is null until the race or its replay has ended, and the time is in the unit of
// the `longest` lane.
export function drawPhoto({ written: bar, photo: { written, all, count } }, lane, first, end, longest) {
  const tokens = first ? writtenBy(lane, first.decodeSeconds) : end;
  const part = 100 * tokens / end;
  bar.style.setProperty("--written", `${part.toFixed(2)}%`);
  bar.toggleAttribute("data-late", part < 100);
  count.style.left = `${part.toFixed(2)}%`;
  const shown = first && 1 - tokens / end >= SHORT;
  put(written, shown ? String(tokens) : "");
  put(all, shown ? ` of ${end}` : "");
  all.dataset.after = shown ? formatSeconds(first.decodeSeconds, longest) : "";
  count.hidden = !shown;
  count.toggleAttribute("data-tight", 1 - tokens / end < TIGHT);
  if (shown) coverWhole(bar, count, end);
}

// The count hides whole cells: of one that it hid in part a sliver would be left.
function coverWhole({ clientWidth: length }, count, end) {
  count.style.removeProperty("min-width");
  const cells = Math.ceil((count.offsetWidth - 1) * end / length);
  if (length) count.style.minWidth = `calc(${(100 * cells / end).toFixed(2)}% + 1px)`;
}

// The title of the bars, and when they were as they are drawn; the time is in the unit of the longest lane.
export function photoTitle(first, longest) {
  return first ? [`After ${formatSeconds(first.decodeSeconds, longest)}`, `, when ${called(first)} was done`] : ["Tokens written", ""];
}

const called = (lane) => (isPlain(lane) ? "the big model" : lane.info.method.endsWith("cascade") ? `the ${lane.info.method}` : lane.info.method);

// Tokens that a lane had written after some seconds of decoding.
function writtenBy({ steps }, seconds) {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle].decodeSeconds <= seconds) low = middle + 1;
    else high = middle;
  }
  return low ? steps[low - 1].count : 0;
}
