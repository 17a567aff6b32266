// The query of the page's address: settings that a link brings, and controls that it takes off the page.

let parameter = ""; // that names the controls, such as "hide"

export const hidden = () => new URLSearchParams(location.search).get(parameter) || "";

// What a link to this page must say so that it hides the same; empty where nothing is hidden.
export const hiding = () => hidden() && `${parameter}=${encodeURIComponent(hidden())}`;

// Whether the address fills in the form. Gradio's own names, such as __theme, begin with two underscores.
export function hasSettings() {
  return [...new URLSearchParams(location.search).keys()].some((name) => name !== parameter && !name.startsWith("__"));
}

// `controls` are selectors by name, `name` is the parameter of the query. Runs before the page is drawn.
export function hideControls(controls, name) {
  parameter = name;
  const names = hidden().split(",").map((one) => one.trim()).filter((one) => Object.hasOwn(controls, one));
  const style = document.createElement("style");
  style.textContent = names.map((one) => `${controls[one]} { display: none !important; }`).join("\n");
  document.head.append(style);
}
