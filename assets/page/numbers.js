// A number that its field does not take, a K that is none, a name that no model has, or too few methods or too many, are told
// below the field as soon as it is left, and not only by Race: in red where it stops the race, quietly where the race does not use the field.

const SAMPLING = ["seed", "top-k", "top-p"]; // used above temperature 0
const FILLED = 200; // milliseconds after which a field has the value that it was given

let mayRace = [0, Infinity]; // methods, at least and at most

// `ranges` has, by the id of a field, its range as csd/ranges.py describes it, `usedBy` the methods that use a field, and `raced` how
// many methods race, as [at least, at most].
export function checkNumbers(ranges, usedBy, raced) {
  mayRace = raced;
  let left = null; // the field of K, once what is typed there is complete
  const fieldOf = (input) => Object.keys(ranges).find((id) => input.closest(`#${id}`));
  document.addEventListener("change", ({ target }) => {
    const id = target.matches("input[type='number']") && fieldOf(target);
    if (id) tell(target, faultOf(id === "max-new" ? upTo(ranges[id], context()) : ranges[id], target.value));
    if (target.closest("#K")) tell(left = target, faultOfK());
    mark(usedBy);
  });
  // What is being typed, and what an example or a link fills in, has not been checked.
  document.addEventListener("input", ({ target }) => {
    if (!fieldOf(target) && !target.closest("#K, #target, #others")) return;
    tell(target, "");
    if (target === left) left = null;
  });
  // The picture may follow the field a moment later.
  new MutationObserver(() => {
    if (left) tell(left, faultOfK());
    mark(usedBy);
  }).observe(document, { subtree: true, attributeFilter: ["data-wrong"] });
}

// Whether a field of the settings still holds what was told to be wrong, and the race uses it.
export function hasFault() {
  const told = [...document.querySelectorAll("#advanced input:invalid, #advanced textarea:invalid")];
  return told.some((input) => input.dataset.faulty === input.value);
}

// What was wrong with values that are no longer there, as after Reset, whose values come a moment later.
export function dropFaults() {
  setTimeout(() => {
    for (const line of document.querySelectorAll("#advanced .number-fault")) {
      const input = line.parentElement.querySelector("input, textarea");
      if (input.value !== input.dataset.faulty) tell(input, "");
    }
  }, FILLED);
}

// Why the server refused a race is told at the field that it names, which is scrolled into view.
export function tellRefusal(field, sentence) {
  const input = document.querySelector(`#advanced #${field} input, #advanced #${field} textarea`);
  if (!input) return;
  if (input.type !== "checkbox" || field === "lanes") tell(input, sentence);
  input.focus();
  input.closest(`#${field}`).scrollIntoView({ block: "nearest" });
}

// What the server finds wrong with the names of models, once one of their fields is left; not while it is typed in again.
export function tellNames(target, drafts) {
  for (const [field, fault] of [["target", target], ["others", drafts]]) {
    const input = document.querySelector(`#advanced #${field} input, #advanced #${field} textarea`);
    if (input && input !== document.activeElement) tell(input, fault);
  }
}

// The picture above the field shows the same K, or says that it cannot (controls/staircase.js).
function faultOfK() {
  const picture = document.querySelector("#K-picture .staircase");
  const size = picture.querySelectorAll(".staircase-track").length;
  const text = document.querySelector("#K textarea, #K input").value;
  return text.trim() && picture.hasAttribute("data-wrong") ? `K must have ${size} rows of ${size} whole numbers from 0 to 64, none smaller than the one before it.` : "";
}

// The tokens that the chosen models read at most, the prompt included; 0 where that is unknown.
const context = () => Number(document.querySelector("#about [data-context]")?.dataset.context ?? 0);

// The range of new tokens with such models.
export function upTo(range, tokens) {
  return tokens ? { ...range, high: tokens - 1, range: `a whole number from 1 to ${(tokens - 1).toLocaleString("en")}` } : range;
}

// What is wrong with the text of a field, in a sentence; or "".
export function faultOf({ name, range, low, high, whole, above, zero }, text) {
  const value = Number(text);
  const isInside = (above ? value > low : value >= low) && value <= high && (!whole || Number.isInteger(value));
  if (text.trim() && (isInside || (zero && value === 0))) return "";
  return text.trim() ? `${name} must be ${range}, not ${text}.` : `${name} is empty. Enter ${range}.`;
}

// The same of so many methods.
export function faultOfMethods([least, most], count) {
  return count < least || count > most ? `${count} ${count === 1 ? "method is" : "methods are"} chosen. Choose ${least} to ${most}.` : "";
}

// Tells it below them, whoever has ticked them: the visitor, a preset or Reset.
export function tellMethods(count) {
  const first = document.querySelector("#lanes input");
  if (first) tell(first, faultOfMethods(mayRace, count));
}

// Why the race does not use a field, in a sentence; or "". `lanes` are the names of the methods that race.
export function whyUnused(field, usedBy, lanes, temperature) {
  if (SAMPLING.includes(field) && !(temperature > 0)) return "Not used at temperature 0.";
  return usedBy[field] && !usedBy[field].some((name) => lanes.includes(name)) ? "No method of this race uses it." : "";
}

function tell(input, fault) {
  const box = input.closest(".input-container, #lanes .wrap") ?? input; // of a text field, which stands beside its buttons, or of the methods
  const told = box.parentElement.querySelector(".number-fault");
  input.dataset.faulty = input.value;
  input.dataset.fault = fault;
  input.setCustomValidity(fault);
  if (told) told.remove();
  if (!fault) return;
  const line = document.createElement("p");
  line.className = "number-fault";
  line.setAttribute("role", "alert");
  line.textContent = fault;
  box.after(line);
}

// A wrong value that the race does not use does not stop it.
function mark(usedBy) {
  const lanes = [...document.querySelectorAll("#lanes input:checked")].map((input) => input.name);
  const temperature = Number(document.querySelector("#temperature input").value);
  for (const line of document.querySelectorAll("#advanced .number-fault")) {
    const input = line.parentElement.querySelector("input, textarea");
    const unused = whyUnused(input.closest("[id]").id, usedBy, lanes, temperature);
    const said = [input.dataset.fault, unused].filter(Boolean).join(" ");
    if (line.textContent !== said) line.textContent = said;
    line.toggleAttribute("data-unused", Boolean(unused));
    input.setCustomValidity(unused ? "" : input.dataset.fault);
  }
}
