// A number that its field does not take is told below it as soon as the field is left, and not only by Race. `ranges` has,
// by the id of a field, its range as csd/ranges.py describes it.

export function checkNumbers(ranges) {
  const fieldOf = (input) => Object.keys(ranges).find((id) => input.closest(`#${id}`));
  document.addEventListener("change", ({ target }) => {
    const id = target.matches("input[type='number']") && fieldOf(target);
    if (id) tell(target, faultOf(ranges[id], target.value));
  });
  // What is being typed, and what an example or a link fills in, has not been checked.
  document.addEventListener("input", ({ target }) => fieldOf(target) && tell(target, ""));
}

// What is wrong with the text of a field, in a sentence; or "".
export function faultOf({ name, range, low, high, whole, above, zero }, text) {
  const value = Number(text);
  const isInside = (above ? value > low : value >= low) && value <= high && (!whole || Number.isInteger(value));
  if (text.trim() && (isInside || (zero && value === 0))) return "";
  return text.trim() ? `${name} must be ${range}, not ${text}.` : `${name} is empty. Enter ${range}.`;
}

function tell(input, fault) {
  const told = input.parentElement.querySelector(".number-fault");
  input.setCustomValidity(fault);
  if (told) told.remove();
  if (!fault) return;
  const line = document.createElement("p");
  line.className = "number-fault";
  line.setAttribute("role", "alert");
  line.textContent = fault;
  input.after(line);
}
