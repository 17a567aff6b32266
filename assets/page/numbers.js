// A number that its field does not take, or a K that is none, is told below it as soon as the field is left, and not only
// by Race. `ranges` has, by the id of a field, its range as csd/ranges.py describes it.

export function checkNumbers(ranges) {
  let left = null; // the field of K, once what is typed there is complete
  const fieldOf = (input) => Object.keys(ranges).find((id) => input.closest(`#${id}`));
  document.addEventListener("change", ({ target }) => {
    const id = target.matches("input[type='number']") && fieldOf(target);
    if (id) tell(target, faultOf(ranges[id], target.value));
    if (!target.closest("#K")) return;
    left = target;
    tell(left, faultOfK());
  });
  // What is being typed, and what an example or a link fills in, has not been checked.
  document.addEventListener("input", ({ target }) => {
    if (!fieldOf(target) && !target.closest("#K")) return;
    tell(target, "");
    if (target === left) left = null;
  });
  // The picture may follow the field a moment later.
  new MutationObserver(() => left && tell(left, faultOfK())).observe(document, { subtree: true, attributeFilter: ["data-wrong"] });
}

// The first field of the settings that still holds what was told to be wrong.
export function faultyField() {
  const told = [...document.querySelectorAll("#advanced input:invalid, #advanced textarea:invalid")];
  return told.find((input) => input.dataset.faulty === input.value);
}

// The picture above the field shows the same K, or says that it cannot (controls/staircase.js).
function faultOfK() {
  const picture = document.querySelector("#K-picture .staircase");
  const size = picture.querySelectorAll(".staircase-track").length;
  const text = document.querySelector("#K textarea, #K input").value;
  return text.trim() && picture.hasAttribute("data-wrong") ? `K must have ${size} rows of ${size} whole numbers from 0 to 64, none smaller than the one before it.` : "";
}

// What is wrong with the text of a field, in a sentence; or "".
export function faultOf({ name, range, low, high, whole, above, zero }, text) {
  const value = Number(text);
  const isInside = (above ? value > low : value >= low) && value <= high && (!whole || Number.isInteger(value));
  if (text.trim() && (isInside || (zero && value === 0))) return "";
  return text.trim() ? `${name} must be ${range}, not ${text}.` : `${name} is empty. Enter ${range}.`;
}

function tell(input, fault) {
  const box = input.closest(".input-container") ?? input; // of a text field, which stands beside its buttons
  const told = box.parentElement.querySelector(".number-fault");
  input.setCustomValidity(fault);
  input.dataset.faulty = input.value;
  if (told) told.remove();
  if (!fault) return;
  const line = document.createElement("p");
  line.className = "number-fault";
  line.setAttribute("role", "alert");
  line.textContent = fault;
  box.after(line);
}
