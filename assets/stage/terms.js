// Technical terms that explain themselves on hover, on focus and on tap. The glossary has their meanings.

import glossary from "../glossary.json" with { type: "json" };
import { h } from "./dom.js";
import { createTooltip, hideTooltip, showTooltip, watchRest } from "./tooltip.js";

const ENTRIES = new Map(glossary.flatMap((entry) => [entry.word, ...(entry.also || [])].map((name) => [name, entry])));

const LABEL = '[class*="term-"] [data-testid="block-info"]'; // Gradio's own label of a field, see csd/stage/tour.py

// The word that an element explains: its own, or that of its field's class, such as term-acceptance-rule.
function wordOf(element) {
  if (element.dataset.term) return element.dataset.term;
  const [, name] = element.closest('[class*="term-"]').className.match(/(?:^|\s)term-([\w-]+)/) || [];
  return name ? name.replaceAll("-", " ") : "";
}

// A term of the glossary as a button with a dotted underline, or plain text where the glossary does not have it.
export function term(name, text = name) {
  if (!ENTRIES.has(name)) return h("span", { text });
  return h("button", { type: "button", class: "cs-term", "data-term": name, text });
}

// A sentence in which these names are terms.
export function withTerms(text, names) {
  return text.split(new RegExp(`(${names.join("|")})`)).map((part) => (names.includes(part) ? term(part) : part));
}

// The word that was pointed at comes first, such as "big model (target)", unless the term has it.
function titleOf(element, word) {
  const text = element.classList.contains("cs-term") ? element.textContent.trim() : word;
  return word.includes(text.toLowerCase()) ? word : `${text} (${word})`;
}

// Shows the meaning of any element with data-term in `root`, and of labels of fields, but not of those in a part that has been given to this
// function itself. Escape, leaving the term, or a tap elsewhere hides it.
export function explainTerms(root) {
  const tooltip = createTooltip();
  let shown = null; // the element whose meaning is shown
  const isResting = watchRest();

  const find = ({ target }) => {
    const found = target.closest(`[data-term], ${LABEL}`);
    return found && found.closest("[data-explained]") === root && ENTRIES.has(wordOf(found)) ? found : null;
  };

  function show(element) {
    if (!element || element === shown || root.hasAttribute("data-present")) return; // an audience reads no meanings, and Escape is not for them
    hide();
    shown = element;
    element.setAttribute("aria-describedby", tooltip.id);
    const { word, meaning } = ENTRIES.get(wordOf(element));
    const { term: name, exact } = element.dataset; // the exact settings of a lane, the names of a level
    const rows = [[titleOf(element, word), meaning], ...(exact && exact !== name ? [["here", exact]] : [])];
    showTooltip({ tooltip }, rows, element.getBoundingClientRect());
  }

  function hide() {
    if (shown) shown.removeAttribute("aria-describedby");
    shown = null;
    hideTooltip({ tooltip });
  }

  root.dataset.explained = "";
  root.append(tooltip);
  root.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse" && !isResting(event)) show(find(event));
  });
  root.addEventListener("pointerout", (event) => event.pointerType === "mouse" && hide());
  root.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && show(find(event)));
  root.addEventListener("focusout", hide);
  root.addEventListener("click", (event) => {
    const found = find(event);
    show(found);
    if (found && found.matches(LABEL)) event.preventDefault(); // a tap on a label asks for its meaning, not for the keyboard
  });
  document.addEventListener("pointerdown", (event) => find(event) !== shown && hide());
  document.addEventListener("scroll", ({ target }) => shown && target.contains(shown) && hide(), { capture: true, passive: true });
  root.addEventListener("keydown", (event) => {
    if (!shown) return;
    hide(); // keys move what is below it
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation(); // nothing else closes
  }, { capture: true });
}
