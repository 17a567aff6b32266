// A race: from the press of Race, or the stage's wish for one, to its end.

import { writeRace } from "./address.js";
import { byId, stage, stageRoot } from "./dom.js";
import { close } from "./panels.js";

const RUNNING = "Your race is still running. Stop it, or wait for its end, before the next one.";
const PATIENCE = 4000; // milliseconds: an example that is in the form already changes nothing

const isRacing = () => byId("go").hasAttribute("data-racing");

export function answerStage() {
  window.addEventListener("cascade-race", raceForStage);
  window.addEventListener("cascade-stop", () => byId("stop").click());
}

// The drawer gives way to the stage, and the status line comes into view with it where the window is too small. Returns
// the status line. While a race runs there is no other one to begin: Gradio takes only one at a time.
export function beginRace() {
  if (isRacing()) return `<p>${RUNNING}</p>`;
  close("more");
  writeRace("");
  byId("go").setAttribute("data-racing", "");
  const [statusTop, stageTop] = ["status", "stage"].map((id) => byId(id).getBoundingClientRect().top);
  if (statusTop < 0 || stageTop > innerHeight / 2) byId("lines").scrollIntoView({ block: "start" });
  stage().wait(true);
  return "<p>Starting.</p>";
}

export function endRace() {
  byId("go").removeAttribute("data-racing");
  stage().wait(false);
}

// The id of the race on the stage; empty while one runs.
export function shownRace() {
  return isRacing() ? "" : stageRoot().dataset.race;
}

// The stage asks for a race, in place of one or while it is presented; with the name of an example, that is filled in before.
async function raceForStage({ detail: { example } }) {
  if (isRacing()) return;
  const chip = [...document.querySelectorAll("#examples button")].find((one) => one.textContent.trim() === example);
  if (chip) {
    const told = new Promise((resolve) => window.addEventListener("cascade-prompt", resolve, { once: true }));
    chip.click();
    await Promise.race([told, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
    await new Promise((resolve) => setTimeout(resolve, 100)); // Gradio writes the other fields
  }
  byId("race").click();
}
