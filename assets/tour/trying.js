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

// The choice of the act itself, once each of them has told what it comes to. Returns whether there is one.
export function tryOwn(visit) {
  const own = triedOf(visit).querySelector("[data-own]");
  if (!own) return false;
  const show = own.dataset.wrong ? spoil : move;
  for (const one of triedOf(visit).querySelectorAll("button")) show(visit, one);
  show(visit, own);
  return true;
}

// The lane with the boundary that was chosen takes the place of the last one.
export function move(visit, button) {
  halt(visit);
  press(visit, button);
  actOf(visit).toggleAttribute("data-moved", !button.hasAttribute("data-begins"));
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
