// The guided tour: a native modal dialog that walks over the page and frames what it speaks of.
// Escape and Close end it, the arrow keys step. Nothing moves by itself.
function guide(root) {
  const dialog = root.querySelector("dialog"), frame = root.querySelector(".tour-frame"), card = root.querySelector(".tour-card");
  const stops = [...root.querySelectorAll("section")];
  const back = root.querySelector(".tour-back"), next = root.querySelector(".tour-next");
  const GAP = 12; // px between the frame and the card
  let place = 0, framed = null;

  const seen = (element) => element && element.getClientRects().length > 0;
  const find = (selectors) => selectors.split("|").map((one) => document.querySelector(one)).find(seen) || null;
  const clamp = (value, low, high) => Math.max(low, Math.min(value, Math.max(low, high)));

  function settle() {
    if (!dialog.open) return;
    const wide = innerWidth, high = innerHeight, box = card.getBoundingClientRect();
    const rect = framed && seen(framed) ? framed.getBoundingClientRect() : null;
    frame.hidden = !rect;
    if (!rect) {
      card.style.left = `${(wide - box.width) / 2}px`;
      card.style.top = `${(high - box.height) / 2}px`;
      return;
    }
    const top = clamp(rect.top - 4, 2, high), left = clamp(rect.left - 4, 2, wide);
    const bottom = clamp(rect.bottom + 4, 0, high - 2), right = clamp(rect.right + 4, 0, wide - 2);
    Object.assign(frame.style, { top: `${top}px`, left: `${left}px`, width: `${Math.max(0, right - left)}px`, height: `${Math.max(0, bottom - top)}px` });
    const under = high - bottom >= box.height + 2 * GAP, over = top >= box.height + 2 * GAP;
    const beside = wide - right >= box.width + 2 * GAP, before = left >= box.width + 2 * GAP;
    let x = clamp((left + right - box.width) / 2, GAP, wide - box.width - GAP), y;
    if (under) y = bottom + GAP;
    else if (over) y = top - box.height - GAP;
    else if (beside || before) {
      x = beside ? right + GAP : left - box.width - GAP;
      y = clamp(top, GAP, high - box.height - GAP);
    } else { // it fits nowhere: over as little of what is framed as can be
      x = wide - box.width - GAP;
      y = top > high - bottom ? GAP : high - box.height - GAP;
    }
    card.style.left = `${x}px`;
    card.style.top = `${y}px`;
  }

  function show(to) {
    place = clamp(to, 0, stops.length - 1);
    stops.forEach((stop, i) => { stop.hidden = i !== place; });
    dialog.setAttribute("aria-labelledby", `tour-title-${place + 1}`);
    back.disabled = place === 0;
    next.textContent = place === stops.length - 1 ? "Done" : "Next";
    framed = find(stops[place].dataset.at);
    if (framed) framed.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "auto" });
    settle();
    next.focus();
  }

  root.querySelector("#tour-start").addEventListener("click", () => {
    const race = document.querySelector('#tabs [role="tab"]');
    if (race && race.getAttribute("aria-selected") !== "true") race.click();
    dialog.showModal();
    requestAnimationFrame(() => show(0));
  });
  root.querySelector(".tour-close").addEventListener("click", () => dialog.close());
  back.addEventListener("click", () => show(place - 1));
  next.addEventListener("click", () => (place === stops.length - 1 ? dialog.close() : show(place + 1)));
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the stage has arrow keys of its own
    if (event.key === "ArrowRight" && place < stops.length - 1) show(place + 1);
    if (event.key === "ArrowLeft" && place > 0) show(place - 1);
  });
  addEventListener("resize", settle);
  addEventListener("scroll", settle, { capture: true, passive: true });
}
