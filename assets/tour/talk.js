// A talk of two minutes: the slides after the race that it begins with, see assets/stage/talk.js. It has few of the acts of the
// tour, each as a slide with one claim, and ends with what to remember, beside the number of that race.

const TUNED = "tuned to this text"; // of a recorded race's plan, see csd/cli/recorder.py

// `calls` are those of assets/stage/bridge.js.
export function beginTalk(calls) {
  const race = readRace();
  return { ...calls, won: race.isWon ? race : null }; // the last race that a cascade won
}

// The acts of a talk, as indices.
export function routeOfTalk(acts) {
  return acts.map((_, i) => i).filter((i) => acts[i].hasAttribute("data-talk"));
}

// A talk that loses a race in the middle ends with the one that was won before, if it was at no rough speed.
export function resumeTalk(talk) {
  const race = readRace();
  if (race.isWon) talk.won = race;
}

// The result of the race on the page.
function readRace() {
  const headline = document.querySelector("#stage .cs-headline");
  const words = (part) => headline?.querySelector(part).textContent ?? "";
  const [opens, factor, lead] = [".cs-opens", ".cs-factor", ".cs-lead"].map(words);
  const isWon = Boolean(factor && lead) && !headline.hasAttribute("data-beaten") && !factor.startsWith("\u2248");
  const isRecorded = document.querySelector("#stage .cascade-stage")?.dataset.race?.startsWith("recorded-");
  const isTuned = document.querySelector("#stage .cs-message")?.textContent.includes(TUNED);
  const recorded = isTuned ? "One recorded race, with a plan tuned to it." : "Measured in one recorded race.";
  const measured = isRecorded ? recorded : "Measured in one race on this page.";
  return { opens, factor, lead, isWon, measured };
}

// An audience can try the page where it has an address of its own.
export function tellHere(place) {
  const isLocal = /^(localhost|127\..*|\[::1\]|)$/.test(location.hostname);
  place.textContent = isLocal ? "" : `Try it: ${location.host}${location.pathname.replace(/\/$/, "")}`;
}

// Where no race was won, the slide has the number of the talk's own small race.
export function tellWon({ won }, box) {
  const words = { b: won?.factor, small: won?.opens, span: won?.lead, ".tour-began": won?.measured };
  for (const [part, word] of Object.entries(words)) {
    const node = box.querySelector(part);
    node.dataset.own ??= node.textContent;
    node.textContent = word ?? node.dataset.own;
  }
}
