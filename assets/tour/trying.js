// What the reader tries on the picture of an act: another boundary, another step, or a wrong guess.

import { draw, halt, inspect, press } from "./picture.js";
import { actOf, triedOf } from "./visit.js";

// What the reader tries is seen at once.
export function tryOut(visit, button) {
  visit.isMoved = true;
  if (button.dataset.wrong) spoil(visit, button.getAttribute("aria-pressed") === "true" ? null : button);
  else if (button.dataset.step) look(visit, button);
  else move(visit, button);
}

// What the question is about, once each choice has told what it comes to; of boundaries the one that the act began with, since its answer
// is told by the times beside them. Returns whether the act has such a choice.
export function tryAsked(visit) {
  const asked = triedOf(visit).querySelector("[data-asked]");
  if (!asked) return false;
  const show = asked.dataset.wrong ? spoil : move;
  for (const one of triedOf(visit).querySelectorAll("button")) show(visit, one);
  show(visit, triedOf(visit).querySelector("[data-begins]") ?? asked);
  return true;
}

// The lane with the boundary that was chosen takes the place of the last one.
export function move(visit, button) {
  halt(visit);
  press(visit, button);
  const number = [...triedOf(visit).children].filter((one) => one.matches("button")).indexOf(button);
  draw(visit, `act ${visit.current + 1}, boundary ${number + 1}`, visit.others[visit.current][number]);
  const clocks = visit.place.querySelectorAll(".cs-clock");
  button.dataset.more = clocks[clocks.length - 1].textContent; // how long the text took, once it was tried
}

function look(visit, button) {
  halt(visit);
  inspect(visit, button.dataset.step);
}

// The guess of the button is wrong, or none is.
function spoil(visit, button) {
  halt(visit);
  press(visit, button);
  inspect(visit, actOf(visit).dataset.step);
  const place = button && Number(button.dataset.wrong);
  visit.stage.spoil(place, button?.dataset.word);
  if (button) button.dataset.more = `${place} kept`;
}
