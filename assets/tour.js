// The guided tour: a modal dialog that walks over the page and frames what it explains. Escape and Close end it, the
// arrow keys step. Nothing moves by itself.

const GAP = 12; // pixels between the frame and the card
const FRAME = 4; // pixels between the frame and what it frames

const isVisible = (element) => element && element.getClientRects().length > 0;
const clamp = (value, low, high) => Math.max(low, Math.min(value, Math.max(low, high)));

// The first visible element that one of the selectors, separated by |, finds.
function findVisible(selectors) {
  return selectors.split("|").map((one) => document.querySelector(one)).find(isVisible) || null;
}

// The frame around an element, inside the window.
function frameAround({ left, top, right, bottom }, { width, height }) {
  return {
    left: clamp(left - FRAME, 2, width),
    top: clamp(top - FRAME, 2, height),
    right: clamp(right + FRAME, 0, width - 2),
    bottom: clamp(bottom + FRAME, 0, height - 2),
  };
}

// Where the card goes: below the frame, above it, beside it, or else where it covers as little of it as possible.
function placeCard(frame, card, screen) {
  const { left, top, right, bottom } = frame;
  const lowest = screen.height - card.height - GAP;
  const x = clamp((left + right - card.width) / 2, GAP, screen.width - card.width - GAP);
  if (screen.height - bottom >= card.height + 2 * GAP) return { x, y: bottom + GAP };
  if (top >= card.height + 2 * GAP) return { x, y: top - card.height - GAP };
  const y = clamp(top, GAP, lowest);
  if (screen.width - right >= card.width + 2 * GAP) return { x: right + GAP, y };
  if (left >= card.width + 2 * GAP) return { x: left - card.width - GAP, y };
  return { x: screen.width - card.width - GAP, y: top > screen.height - bottom ? GAP : lowest };
}

// Draws the frame around an element and the card beside it; without an element the card is in the middle.
function settle(frame, card, element) {
  const screen = { width: innerWidth, height: innerHeight };
  const box = card.getBoundingClientRect();
  frame.hidden = !isVisible(element);
  let place = { x: (screen.width - box.width) / 2, y: (screen.height - box.height) / 2 };
  if (!frame.hidden) {
    const edges = frameAround(element.getBoundingClientRect(), screen);
    const width = Math.max(0, edges.right - edges.left);
    const height = Math.max(0, edges.bottom - edges.top);
    const style = { left: edges.left, top: edges.top, width, height };
    for (const [name, value] of Object.entries(style)) frame.style[name] = `${value}px`;
    place = placeCard(edges, box, screen);
  }
  card.style.left = `${place.x}px`;
  card.style.top = `${place.y}px`;
}

// Lets the button in `root` open the tour.
function startTour(root) {
  const [dialog, frame, card, back, next] = ["dialog", ".tour-frame", ".tour-card", ".tour-back", ".tour-next"]
    .map((selector) => root.querySelector(selector));
  const stops = [...root.querySelectorAll("section")];
  const last = stops.length - 1;
  let current = 0;
  let framed = null;
  const draw = () => {
    if (dialog.open) settle(frame, card, framed);
  };

  function show(stop) {
    current = clamp(stop, 0, last);
    stops.forEach((one, i) => { one.hidden = i !== current; });
    dialog.setAttribute("aria-labelledby", `tour-title-${current + 1}`);
    back.disabled = current === 0;
    next.textContent = current === last ? "Done" : "Next";
    framed = findVisible(stops[current].dataset.at);
    if (framed) framed.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "auto" });
    draw();
    next.focus();
  }

  root.querySelector("#tour-start").addEventListener("click", () => {
    const race = document.querySelector('#tabs [role="tab"]');
    if (race && race.getAttribute("aria-selected") !== "true") race.click();
    dialog.showModal();
    requestAnimationFrame(() => show(0));
  });
  root.querySelector(".tour-close").addEventListener("click", () => dialog.close());
  back.addEventListener("click", () => show(current - 1));
  next.addEventListener("click", () => (current === last ? dialog.close() : show(current + 1)));
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the stage has its own arrow keys
    if (event.key === "ArrowRight" && current < last) show(current + 1);
    if (event.key === "ArrowLeft" && current > 0) show(current - 1);
  });
  addEventListener("resize", draw);
  addEventListener("scroll", draw, { capture: true, passive: true });
}
