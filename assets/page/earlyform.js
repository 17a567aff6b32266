// What stands above the race that plays early: the form, the tabs and the buttons of the page, where Gradio will draw them. What is
// pressed here is pressed in the page as soon as it is there.

let pressed = null; // {selector, text} of the part that was pressed last

// `propsOf` gives the properties of a part of the page by its id, `titlesIn` the titles of what a part holds; `links` are the buttons
// that Gradio does not draw, as [text, selector, count].
export function drawEarlyForm(propsOf, titlesIn, links) {
  const [race, prompt] = [propsOf("race").value, propsOf("prompt").value];
  const form = drawRow("early-form", [[prompt, "#prompt textarea"], [race, "#race"]]);
  const examples = titlesIn("examples").map((text) => [text, "#examples button"]);
  const label = document.createElement("i");
  label.textContent = wordsOf(propsOf("try"));
  const chips = drawRow("early-examples", examples);
  chips.prepend(label);
  return [
    drawRow("early-tabs", titlesIn("tabs").map((text) => [text, "#tabs [role=tab]"])), drawRow("early-links", links),
    drawRow("early-paper", [[wordsOf(propsOf("paper")), "#paper a"]]), form, chips,
    drawRow("early-settings", ["more", "races"].map((name) => [propsOf(name).value, `#${name}`])),
    drawRow("early-status", [[wordsOf(propsOf("status")), ""]]),
  ];
}

const wordsOf = ({ value }) => new DOMParser().parseFromString(value, "text/html").body.textContent;

// Presses in the page what was pressed before it was there.
export function pressAsAsked() {
  if (!pressed) return;
  const { selector, text } = pressed;
  const parts = [...document.querySelectorAll(selector)];
  const part = parts.find((one) => one.textContent.trim().startsWith(text)) ?? parts[0];
  pressed = null;
  part?.focus();
  part?.click();
}

function drawRow(name, parts) {
  const row = document.createElement("div");
  row.className = name;
  row.append(...parts.map((part) => drawPart(...part)));
  return row;
}

// No button: nothing here can be reached by keyboard, for it will be gone in a moment.
function drawPart(text, selector, count = "") {
  const part = document.createElement("span");
  part.textContent = text;
  if (count) part.append(" ", Object.assign(document.createElement("b"), { textContent: count }));
  if (selector) part.addEventListener("click", () => {
    for (const one of document.querySelectorAll("#early [data-pressed]")) one.removeAttribute("data-pressed");
    part.setAttribute("data-pressed", "");
    pressed = { selector, text };
  });
  return part;
}
