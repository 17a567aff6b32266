// The theory page: what α, c and K would bring. It starts from what a recorded race measured.

import { startChart } from "./chart.js";
import { axisEnd, curvesOf, modelOf } from "./curves.js";
import { bestK, ewifCombined, ewifHorizontal, ewifSpeculative, pairKey, pairsOf, stagesOf, usedBy } from "./prediction.js";
import { explain, headline, tellOver } from "./words.js";

const factor = (value) => `${value.toFixed(2)}×`;

// `races` are those of csd/site/theory.py; `controls` holds startSliders, startStaircase and parseK.
export function startPanel(root, races, controls) {
  const [select, draft, k, K, words, measured] = ["#race", "#draft", "#k", "#K", "#words", "#measured"]
    .map((selector) => root.querySelector(selector));
  const show = startChart(root.querySelector("#what-if-chart"));
  let race = null;
  let sliders = null;
  let top = 0; // the axis does not shrink while sliders move
  const say = (text, refused = false) => {
    words.textContent = text;
    root.toggleAttribute("data-refused", refused);
  };
  const update = () => {
    const matrix = controls.parseK(K.value, race.drafts.length + 1);
    if (!matrix) return say(`K must have ${race.drafts.length + 1} rows of whole numbers from 0 to 64, such as ${race.K}.`, true);
    if (!(Number.isInteger(Number(k.value)) && k.value >= 1 && k.value <= 64)) return say("k must be a whole number from 1 to 64.", true);
    const used = usedBy(stagesOf(race.drafts, matrix)).add(pairKey("target", draft.value)).add(draft.value);
    const switched = withReasons(sliders, used);
    if (JSON.stringify(switched) !== JSON.stringify(sliders)) showSliders((sliders = switched));
    const curves = curvesOf(race.drafts, draft.value, Number(k.value), matrix, modelOf(sliders));
    top = Math.max(top, axisEnd(curves.flatMap(({ ys }) => ys)));
    show({ title: headline(curves), xTitle: tellOver(stagesOf(race.drafts, matrix), draft.value, rolesOf(race)), xs: curves[0].xs, curves, top });
    return say(explain(curves));
  };
  const showSliders = controls.startSliders(root.querySelector("#sliders"), null, (value) => {
    sliders = value;
    update();
  });
  const showPicture = controls.startStaircase(root.querySelector(".staircase"), null, (text) => {
    K.value = text;
    update();
  });
  const choose = (name) => {
    race = races.find((one) => one.name === name || encodeURIComponent(one.name) === name) ?? races[0];
    select.value = race.name;
    top = 0;
    draft.replaceChildren(...race.drafts.map((one) => new Option(rolesOf(race)[one], one)));
    [draft.value, k.value, K.value] = [race.draft, race.k, race.K];
    measured.textContent = race.measured;
    measured.href = `races/${race.name}.html`;
    sliders = { groups: groupsOf(race) };
    showSliders(sliders);
    showPicture({ K: race.K, target: race.target, levels: race.levels });
    update();
  };
  select.replaceChildren(...races.map((one) => new Option(one.title, one.name)));
  select.addEventListener("change", () => {
    history.replaceState(null, "", `#${select.value}`);
    choose(select.value);
  });
  addEventListener("hashchange", () => choose(location.hash.slice(1)));
  for (const field of [draft, k]) field.addEventListener("input", update);
  K.addEventListener("input", () => {
    showPicture({ K: K.value, target: race.target, levels: race.levels });
    update();
  });
  choose(location.hash.slice(1));
}

// What a level is called, by its name in traces.
function rolesOf({ drafts, target, levels }) {
  return Object.fromEntries(["target", ...drafts, "MaxGram"].map((name, i) => [name, i ? levels[i - 1].role : target]));
}

function groupsOf(race) {
  const roles = rolesOf(race);
  const alphas = pairsOf(race.drafts).map(([reviewer, drafter]) => ({
    key: pairKey(reviewer, drafter), label: `${roles[drafter]}, checked by ${roles[reviewer]}`,
    value: race.alphas[pairKey(reviewer, drafter)], low: 0, high: 1, step: 0.001, unused: "",
  }));
  const costs = race.drafts.map((name) => ({
    key: name, label: `a run of the ${roles[name]}`, value: race.costs[name], low: 0, high: Math.max(1, 2 * race.costs[name]), step: 0.001, unused: "",
  }));
  const width = { key: "width", label: "each guess in a check", value: race.width, low: 0, high: 0.2, step: 0.001, unused: "" };
  return [
    { question: "How often is a guess right?", about: "α, from 0 to 1", shown: 1, sliders: alphas },
    { question: "What does a guess cost?", about: "c, in big-model runs", shown: 1, sliders: [...costs, width] },
  ];
}

function withReasons({ groups }, used) {
  const reason = (key) => (key === "width" || used.has(key) ? "" : "no effect with this plan");
  return { groups: groups.map((group) => ({ ...group, sliders: group.sliders.map((one) => ({ ...one, unused: reason(one.key) })) })) };
}

// ---- the paper's curves

const COPIED = 0.001; // cost of a copied token, in target passes
const range = (from, to, step = 1) => Array.from({ length: Math.round((to - from) / step) + 1 }, (_, i) => Number((from + i * step).toFixed(3)));

export function startCurves(root, controls) {
  const charts = [...root.querySelectorAll(".chart")].map(startChart);
  const slider = (key, label, value, low, high) => ({ key, label, value, low, high, step: 0.01, unused: "" });
  const value = { groups: [{
    question: "A small model and a copier", about: "c in runs of the big model, α as shares accepted",
    sliders: [slider("c", "c, a run of the small model", 0.2, 0.01, 1), slider("copies", "α of the copier", 0.5, 0, 0.95)],
  }] };
  const update = ({ groups: [{ sliders: [c, copies] }] }) => {
    paperCurves(c.value, copies.value).forEach((chart, i) => charts[i](chart));
  };
  controls.startSliders(root.querySelector("#curve-sliders"), value, update);
  update(value);
}

export function paperCurves(c, copies, longest = 24) {
  const ks = range(0, longest);
  const wide = range(0.3, 0.96, 0.02);
  const alphas = range(0.5, 0.95, 0.025);
  const best = (alpha, cost) => ewifSpeculative(alpha, cost, bestK(alpha, cost, longest));
  const highest = (values) => Math.max(...values);
  const [runs, inner] = [range(1, 12), range(0, 6)];
  const cascades = [
    ["both", "cascade", (a) => highest(runs.flatMap((n) => inner.flatMap((k) => inner.map((tail) => ewifCombined(a, copies, copies, c, COPIED, n, k, tail)))))],
    ["vertical", "vertical cascade", (a) => highest(runs.flatMap((n) => inner.map((k) => ewifCombined(a, copies, 0, c, COPIED, n, k, 0))))],
    ["horizontal", "horizontal cascade", (a) => highest(runs.flatMap((n) => inner.map((tail) => ewifHorizontal([[a, c, n], [copies, COPIED, tail]]))))],
    ["speculative", "speculative", (a) => highest(runs.map((n) => ewifSpeculative(a, c, n)))],
  ].map(([name, look, fastest]) => ({ name, look, ys: alphas.map(fastest) }));
  const at = alphas.indexOf(0.8);
  const k = bestK(0.8, c, longest);
  const costs = [0.02, 0.05, 0.1, 0.2, 0.4];
  const gain = cascades[0].ys[at] / cascades[3].ys[at];
  return [
    { title: `At α = 0.8, both cascades together are ${gain.toFixed(2)} times as fast as speculative decoding`,
      xTitle: "α of the draft", xs: alphas, curves: cascades },
    { title: k ? `At c = ${c} and α = 0.8, the best k is ${k} (${factor(ewifSpeculative(0.8, c, k))})` : `At c = ${c} and α = 0.8, no k pays`,
      xTitle: "k", xs: ks,
      curves: [0.9, 0.8, 0.7, 0.6, 0.5].map((a) => ({ name: `α = ${a}`, look: "speculative", ys: ks.map((one) => ewifSpeculative(a, c, one)) })) },
    { title: `At α = 0.8, a draft of c = ${costs[0]} gives ${best(0.8, costs[0]).toFixed(1)}×, one of c = ${costs[4]} gives ${best(0.8, costs[4]).toFixed(1)}×`,
      xTitle: "α of the draft, with its best k", xs: wide,
      curves: costs.map((cost) => ({ name: `c = ${cost}`, look: "speculative", ys: wide.map((a) => best(a, cost)) })) },
  ];
}
