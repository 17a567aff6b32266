// The table of time per level and lane; its rows add up to the decoding time.

import { h } from "./dom.js";
import { countRuns, formatPercent, formatSeconds } from "./format.js";
import { OVERHEAD, levelOf, titleOf } from "./log.js";
import { term } from "./terms.js";

export function createBudget() {
  return h("section", { class: "cs-budget" });
}

export function buildBudget({ budget, race, views }) {
  const lanes = views.map((view) => view.lane);
  const names = race.open.levels.map((level) => level.name).reverse();
  const used = names.filter((name) => lanes.some((lane) => lane.seconds.has(name)));
  const levels = used.map((name) => levelOf(race, name));
  const overheads = lanes.map((lane) => createCell(lane.overheadSeconds, shareOf(lane, lane.overheadSeconds)));
  const sums = [
    createRow([term("overhead"), " (the rest)"], overheads),
    createRow(["decoding"], lanes.map((lane) => createCell(lane.decodeSeconds)), "cs-budget-sum"),
    createRow([term("prefill"), " (not included)"], lanes.map((lane) => createCell(lane.prefillSeconds))),
  ];
  const heads = lanes.map((lane) => h("th", { scope: "col", text: titleOf(lane) }));
  budget.replaceChildren(h("table", {},
    h("caption", { text: "The rows add up to the decoding time." }),
    h("thead", {}, h("tr", {}, h("td"), ...heads)),
    h("tbody", {}, createBars(lanes, levels), ...levels.map((level) => createLevel(lanes, level)), ...sums)));
}

export function clearBudget({ budget }) {
  budget.replaceChildren();
}

function createRow(head, cells, className) {
  return h("tr", { class: className }, h("th", { scope: "row" }, ...head), ...cells);
}

function createCell(seconds, note = "") {
  const told = note ? h("span", { text: ` ${note}` }) : null;
  return h("td", { "data-seconds": seconds, title: note }, h("b", { text: formatSeconds(Math.max(0, seconds)) }), told);
}

function createLevel(lanes, { name, role, look, mark }) {
  const head = [h("span", { class: "cs-swatch", "data-look": look, "data-mark": mark }), ` ${role}`];
  return createRow(head, lanes.map((lane) => {
    const spent = lane.seconds.get(name);
    if (!spent) return h("td", { text: "\u2013" });
    return createCell(spent.seconds, `${shareOf(lane, spent.seconds)}, ${countRuns(spent.runs, mark)}`);
  }));
}

function shareOf(lane, seconds) {
  return lane.decodeSeconds ? formatPercent(seconds, lane.decodeSeconds) : "";
}

// One bar per lane, as long as its decoding took, divided by level.
function createBars(lanes, levels) {
  const longest = Math.max(...lanes.map((lane) => lane.decodeSeconds), 1e-9);
  const bars = lanes.map((lane) => {
    const used = levels.filter(({ name }) => lane.seconds.has(name));
    const parts = used.map(({ name, look }) => createPart(lane, look, lane.seconds.get(name).seconds));
    const overhead = createPart(lane, OVERHEAD, Math.max(0, lane.overheadSeconds));
    const style = `width:${((100 * lane.decodeSeconds) / longest).toFixed(1)}%`;
    return h("td", {}, h("div", { class: "cs-mix", "aria-hidden": "true", style }, ...parts, overhead));
  });
  return h("tr", { class: "cs-budget-bars" }, h("td"), ...bars);
}

function createPart(lane, look, seconds) {
  const style = `width:${((100 * seconds) / (lane.decodeSeconds || 1)).toFixed(2)}%`;
  return h("span", { class: "cs-mix-part", "data-look": look, style });
}
