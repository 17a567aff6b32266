// Sliders in groups. Those without effect are disabled and folded away below the groups, each with the reason; a number
// out of range becomes the nearest one in range, and that is said too.

import { make } from "./elements.js";

// `value` is {groups: [{question, about, sliders: [{key, label, low, high, step, value, unused}]}]}; `send(value)` is
// called with every change. Returns a function that shows another value.
export function startSliders(root, value, send) {
  let shown = null;
  let rows = [];
  const fold = buildFold();
  const show = (given) => {
    if (!given) return;
    const outline = JSON.stringify(given.groups.map(({ question, sliders }) => [question, sliders.map((one) => one.key)]));
    if (!shown || outline !== shown.outline) {
      rows = [];
      root.replaceChildren(...given.groups.map((group) => buildGroup(root, group, rows, change)), fold.box);
    }
    shown = { outline, value: given };
    const sliders = given.groups.flatMap((group) => group.sliders);
    rows.forEach((row, i) => update(row, sliders[i]));
    arrange(rows, fold);
  };
  const change = (key, number) => {
    const groups = shown.value.groups.map((group) => ({
      ...group,
      sliders: group.sliders.map((one) => (one.key === key ? { ...one, value: number } : one)),
    }));
    shown.value = { groups };
    send(shown.value);
  };
  show(value);
  return show;
}

// The nearest number in range to what was typed, and a sentence where that is another one; null while nothing is typed.
export function inRange(text, { low, high }) {
  const typed = text.trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(typed)) return null;
  const number = Math.min(high, Math.max(low, typed));
  return { number, note: number === typed ? "" : `From ${low} to ${high}: ${typed} became ${number}.` };
}

function buildGroup(root, group, rows, change) {
  const own = group.sliders.map((slider) => buildRow(root, slider, change));
  rows.push(...own);
  const box = make("fieldset", { class: "sliders-group" },
    make("legend", {}, group.question, make("small", {}, group.about)), ...own.map((row) => row.box));
  for (const row of own) row.group = box;
  return box;
}

function buildFold() {
  const summary = make("summary", {});
  const list = make("div", {});
  return { summary, list, box: make("details", { class: "sliders-fold" }, summary, list) };
}

// Each row into its group, or into the fold; a row that stays where it is keeps the focus.
function arrange(rows, fold) {
  const idle = rows.filter((row) => row.slider.unused);
  for (const row of rows) {
    const home = row.slider.unused ? fold.list : row.group;
    if (row.box.parentElement !== home) {
      for (const one of rows.filter((one) => home === (one.slider.unused ? fold.list : one.group))) home.append(one.box);
    }
  }
  fold.box.hidden = !idle.length;
  fold.summary.textContent = `${idle.length} that have no effect with this plan`;
}

function buildRow(root, slider, change) {
  const id = `${root.id || "sliders"}-${slider.key.replace(/\W+/g, "-")}-${Math.random().toString(36).slice(2, 8)}`;
  const bounds = { min: slider.low, max: slider.high, step: slider.step };
  const range = make("input", { type: "range", "aria-labelledby": `${id}-label`, "aria-describedby": `${id}-note`, ...bounds });
  const box = make("input", { type: "number", id, "aria-describedby": `${id}-note`, inputmode: "decimal", ...bounds });
  const note = make("p", { class: "sliders-note", id: `${id}-note`, role: "status" });
  const row = {
    range, number: box, note, slider,
    box: make("div", { class: "sliders-row", "data-key": slider.key },
      make("label", { for: id, id: `${id}-label` }, slider.label), range, box, note),
  };
  range.addEventListener("input", () => {
    box.value = range.value;
    note.textContent = "";
    change(row.slider.key, Number(range.value));
  });
  box.addEventListener("input", () => {
    const found = inRange(box.value, row.slider);
    if (!found) return;
    range.value = found.number;
    note.textContent = found.note;
    change(row.slider.key, found.number);
  });
  box.addEventListener("change", () => { box.value = range.value; });
  return row;
}

function update(row, slider) {
  const unused = Boolean(slider.unused);
  if (unused || row.slider.unused) row.note.textContent = unused ? slider.unused : "";
  row.slider = slider;
  row.range.max = row.number.max = slider.high;
  row.box.toggleAttribute("data-unused", unused);
  row.range.disabled = row.number.disabled = unused;
  if (Number(row.range.value) !== slider.value || row.number.value === "") {
    row.range.value = slider.value;
    row.number.value = slider.value;
  }
}
