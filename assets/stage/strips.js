// Draws the timeline: a strip per lane with a row per level, the axis, the cursor, and what a lane did at a time.

import { h, put, s } from "./dom.js";
import { countTokens, formatSeconds } from "./format.js";
import { OVERHEAD, levelsOfLane } from "./log.js";
import { capitalize, nameOf, tellRound } from "./narrate.js";
import { flattenRecords } from "./records.js";
import { shownTime } from "./state.js";
import { spansPath, timeTicks } from "./timescale.js";
import { hideTooltip, showTooltip } from "./tooltip.js";

const ROW = 15; // height of a level's row in pixels
const GAP = 1;
const OVERHEAD_ROW = 4;
const REACH = 1.5; // pixels around the pointer in which a record is found

// The time under the pointer.
export function timeAt({ part, end, tracks, left, width }, event) {
  return part.from + ((event.clientX - tracks.getBoundingClientRect().left - left) / width) * (end - part.from);
}

export function drawStrip({ race, timeline }, { view: { lane }, svg, marks }) {
  const rows = levelsOfLane(race, lane);
  const shown = { from: timeline.part.from, to: timeline.end, width: timeline.width };
  const bars = (spans, y, height) => spansPath(spans || [], shown, y, height);
  const paths = rows.flatMap(({ mark, look }, i) => {
    const y = i * (ROW + GAP);
    const level = { "data-look": look, "data-level": mark };
    return [s("path", { class: "cs-early", ...level, d: bars(lane.prefillSpans.get(mark), y, ROW) }),
      s("path", { ...level, d: bars(lane.spans.get(mark), y, ROW) })];
  });
  const height = rows.length * (ROW + GAP) + OVERHEAD_ROW;
  const overhead = bars(lane.spans.get(OVERHEAD), height - OVERHEAD_ROW, OVERHEAD_ROW);
  svg.setAttribute("viewBox", `0 0 ${timeline.width} ${height}`);
  svg.style.height = `${height}px`;
  svg.replaceChildren(...paths, s("path", { class: "cs-idle", d: overhead }));
  const names = rows.map(({ role }) => role.replace(" model", ""));
  if (marks.textContent !== names.join("")) marks.replaceChildren(...names.map((name) => h("i", { text: name })));
}

export function drawAxis({ axis, range, part, end, width }) {
  const marks = timeTicks(part.from, end).flatMap(({ value, text }) => {
    const x = ((value - part.from) / (end - part.from)) * width;
    const anchor = x < 12 ? "start" : x > width - 30 ? "end" : "middle";
    return [s("path", { d: `M${x} 0v4` }), s("text", { x, y: 16, "text-anchor": anchor, text })];
  });
  axis.setAttribute("viewBox", `0 0 ${width} 18`);
  axis.replaceChildren(...marks);
  put(range, part.to ? `${formatSeconds(part.from)} to ${formatSeconds(part.to)}` : "");
}

export function drawCursor(stage) {
  const { cursor, part, end, width, left } = stage.timeline;
  const x = ((shownTime(stage) - part.from) / (end - part.from)) * width;
  const isOutside = x < -1 || x > width + 1;
  cursor.style.visibility = stage.mode === "live" || isOutside ? "hidden" : "visible";
  cursor.style.transform = `translateX(${(left + x).toFixed(1)}px)`;
}

// Shows what a lane did at the time under the pointer.
export function showTimeTooltip(stage, view, event) {
  const { timeline } = stage;
  if (event.buttons || !timeline.width) return hideTooltip(stage);
  const reach = (REACH * (timeline.end - timeline.part.from)) / timeline.width;
  const rows = timeFacts(stage.race, view.lane, timeAt(timeline, event), reach);
  if (!rows) return hideTooltip(stage);
  showTooltip(stage, rows, { left: event.clientX + 12, top: event.clientY - 8, bottom: event.clientY + 12 });
}

// What a lane did at a time, as rows [name, value]; undefined where it did nothing. Records that are less than `reach`
// seconds away count.
function timeFacts(race, lane, time, reach) {
  const distance = (record) => Math.max(0, record.c - time, time - record.c - record.d);
  const prefill = lane.prefill.find((line) => distance(line) === 0);
  if (prefill) {
    const told = `${capitalize(nameOf(race, prefill.by))} reads ${countTokens(prefill.n, "prompt")}`;
    return [["prefill", told], ["took", formatSeconds(prefill.d)]];
  }
  const step = lane.steps.find((one) => one.until + reach >= time);
  if (!step || step.line.c - reach > time) return undefined;
  const records = flattenRecords(step.line.r).map((one) => one.record);
  const nearest = records.reduce((best, one) => (distance(one) < distance(best) ? one : best));
  const review = ["review", `${step.number} of ${lane.steps.length}`];
  if (distance(nearest) > reach) return [review, ["here", "overhead: no model is running"]];
  return [review, ["here", tellRound(race, nearest)], ["took", formatSeconds(nearest.d)]];
}
