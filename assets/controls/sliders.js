// Sliders in groups. The first ones of a group are seen at once, the others are folded away below the groups; those without
// effect come last there, disabled, each with the reason. A number out of range becomes the nearest one in range, and that
// is said too.

import { make } from "./elements.js";

// `value` is {groups: [{question, about, shown (how many at once; null: all), sliders: [{key, label, low, high, step, value,
// unused, origin, began}]}]}; `origin`, "measured" or "usual", is where the number `began` comes from. `send(value)` is called
// with every change, and `edit` counts them. Returns a function that shows another value and returns what is then shown.
// A value with `answers` was computed from the numbers of that edit: numbers changed since are kept.
export function startSliders(root, value, send) {
  let shown = null;
  let groups = [];
  let fold = null;
  const show = (given) => {
    if (!given) return shown?.value;
    if ("answers" in given && given.answers !== (shown?.value.edit ?? 0)) given = keepNumbers(shown.value, given);
    const outline = JSON.stringify(given.groups.map(({ question, sliders }) => [question, sliders.map((one) => one.key)]));
    if (!shown || outline !== shown.outline) {
      groups = given.groups.map((group) => buildGroup(root, group, change));
      fold = buildFold(groups);
      root.replaceChildren(...groups.map((group) => group.box), fold.box);
    }
    shown = { outline, value: given };
    given.groups.forEach((group, i) => group.sliders.forEach((slider, j) => update(groups[i].rows[j], slider)));
    arrange(groups, fold);
    return given;
  };
  const change = (key, number) => {
    const groups = shown.value.groups.map((group) => ({
      ...group,
      sliders: group.sliders.map((one) => (one.key === key ? { ...one, value: number } : one)),
    }));
    shown.value = { groups, edit: (shown.value.edit ?? 0) + 1 };
    send(shown.value);
  };
  show(value);
  return show;
}

// Where the number of a slider comes from; nothing to say of one that was measured.
export function tellOrigin({ value, began, origin }) {
  if (!origin) return "";
  if (value === began) return origin === "measured" ? "" : "a usual number, not measured";
  return origin === "measured" ? `assumed; the race measured ${began}` : `assumed; usual is ${began}`;
}

// The nearest number in range to what was typed, and a sentence where that is another one; null while nothing is typed.
export function inRange(text, { low, high }) {
  const typed = text.trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(typed)) return null;
  const number = Math.min(high, Math.max(low, typed));
  return { number, note: number === typed ? "" : `From ${low} to ${high}: ${typed} became ${number}.` };
}

// `value`, with what an answer to earlier numbers says of its sliders; just `value` where the answer is about other sliders.
export function keepNumbers(value, answer) {
  const unused = new Map(answer.groups.flatMap(({ sliders }) => sliders.map((one) => [one.key, one.unused])));
  const groups = value.groups.map((group) => ({
    ...group,
    sliders: group.sliders.map((one) => ({ ...one, unused: unused.get(one.key) ?? one.unused })),
  }));
  return { ...value, groups };
}

function buildGroup(root, { question, about, shown, sliders }, change) {
  const small = make("small", {}, about);
  const rows = sliders.map((slider) => buildRow(root, slider, change));
  const box = make("fieldset", { class: "sliders-group" }, make("legend", {}, question, small));
  const more = make("fieldset", { class: "sliders-group" }, make("legend", {}, small.cloneNode(true)));
  return { rows, box, more, shown: shown ?? Infinity };
}

function buildFold(groups) {
  const summary = make("summary", {});
  const words = make("p", {});
  const idle = make("div", { class: "sliders-idle" }, words);
  const more = groups.filter((group) => group.shown < Infinity).map((group) => group.more);
  return { summary, words, idle, box: make("details", { class: "sliders-fold" }, summary, ...more, idle) };
}

// Each row into its group, or into the fold; a row that stays where it is keeps the focus.
function arrange(groups, fold) {
  const homes = new Map();
  for (const { rows, box, more, shown } of groups) {
    const used = rows.filter((row) => !row.slider.unused);
    rows.forEach((row) => homes.set(row, row.slider.unused ? fold.idle : used.indexOf(row) < shown ? box : more));
  }
  for (const [row, home] of homes) {
    if (row.box.parentElement === home) continue;
    for (const [one, its] of homes) if (its === home) home.append(one.box);
  }
  const idle = [...homes.values()].filter((home) => home === fold.idle).length;
  const folded = [...homes].filter(([, home]) => groups.every(({ box }) => box !== home)).length;
  for (const { box, more } of groups) for (const one of [box, more]) one.hidden = !one.querySelector(".sliders-row");
  fold.idle.hidden = !idle;
  fold.box.hidden = !folded;
  fold.summary.textContent = `The numbers of the other models (${folded})`;
  fold.words.textContent = idle === 1 ? "One setting has no effect with this plan:" : `${idle} settings have no effect with this plan:`;
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
  const move = (number, said) => {
    row.slider = { ...row.slider, value: number };
    note.textContent = said || tellOrigin(row.slider);
    change(row.slider.key, number);
  };
  range.addEventListener("input", () => {
    box.value = range.value;
    move(Number(range.value), "");
  });
  box.addEventListener("input", () => {
    const found = inRange(box.value, row.slider);
    if (!found) return;
    range.value = found.number;
    move(found.number, found.note);
  });
  box.addEventListener("change", () => { box.value = range.value; });
  return row;
}

function update(row, slider) {
  const unused = Boolean(slider.unused);
  const isAnother = slider.value !== row.slider.value || slider.began !== row.slider.began || !row.note.textContent;
  if (unused) row.note.textContent = slider.unused;
  else if (isAnother || row.slider.unused) row.note.textContent = tellOrigin(slider);
  row.box.toggleAttribute("data-told", Boolean(slider.origin) && !unused);
  row.slider = slider;
  row.range.max = row.number.max = slider.high;
  row.box.toggleAttribute("data-unused", unused);
  row.range.disabled = row.number.disabled = unused;
  if (Number(row.range.value) !== slider.value || row.number.value === "") {
    row.range.value = slider.value;
    row.number.value = slider.value;
  }
}
