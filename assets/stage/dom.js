// Builders for elements. All text goes in through textContent, so text of prompts and models is never markup.

const SVG = "http://www.w3.org/2000/svg";
const ICONS = {
  start: "M3 3h2v10H3zM13 3v10L6 8z",
  end: "M11 3h2v10h-2zM3 3v10l7-5z",
  play: "M4 2v12l10-6z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
  previous: "M12 2v12L4 8z",
  next: "M4 2v12l8-6z",
};

// An HTML element. `text` sets its text, "onclick" and the like add a listener, true gives an empty attribute;
// attributes and children that are null or undefined are left out.
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// The same for an SVG element.
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Sets the text of a node, and touches the page only if that changes it.
export function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function button(className, text, attributes) {
  return h("button", { type: "button", class: className, text, ...attributes });
}

// A button with an icon; `key` is the keyboard shortcut that its tooltip names.
export function iconButton(icon, label, key, onclick) {
  const attributes = { class: "cs-button cs-tool", "aria-label": label, title: `${label} (${key})`, onclick };
  return h("button", { type: "button", ...attributes }, iconImage(iconPath(icon)));
}

export function iconImage(path) {
  return s("svg", { class: "cs-icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, path);
}

export function iconPath(icon) {
  return s("path", { d: iconShape(icon) });
}

export function iconShape(icon) {
  return ICONS[icon];
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
