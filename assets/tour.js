// The guided tour: acts on a small recorded race, in a dialog with a stage of its own. Escape and Close end it, the arrow
// keys step. `logs` holds the race of each act, see csd/stage/tour.py.

function startTour(root, logs) {
  const [dialog, finish, back, next, place] = ["dialog", ".tour-finish", ".tour-back", ".tour-next", ".cascade-stage"]
    .map((selector) => root.querySelector(selector));
  const acts = [...root.querySelectorAll("section")];
  const last = acts.length - 1;
  let current = 0;
  let stage = null; // made when the tour is opened for the first time
  let timer = 0;

  function show(act) {
    current = Math.max(0, Math.min(act, last));
    clearTimeout(timer);
    acts.forEach((one, i) => { one.hidden = i !== current; });
    dialog.setAttribute("aria-labelledby", `tour-title-${current + 1}`);
    back.disabled = current === 0;
    next.textContent = current === last ? "Done" : "Next";
    const kind = acts[current].dataset.show;
    dialog.dataset.show = kind;
    finish.hidden = kind !== "review";
    stage.update({ race: `act ${current + 1}`, log: logs[current] });
    if (kind === "text") stage.play(0);
    if (kind === "review") {
      stage.seek(0);
      stage.step(1); // the first review of the last lane
      timer = setTimeout(() => stage.watch(), 1200); // time to see where everything is
    }
    next.focus();
  }

  root.querySelector("#tour-start").addEventListener("click", () => {
    dialog.showModal();
    if (!stage) stage = CascadeStage.mount(place);
    requestAnimationFrame(() => show(0));
  });
  root.querySelector(".tour-close").addEventListener("click", () => dialog.close());
  finish.addEventListener("click", () => {
    clearTimeout(timer);
    stage.play();
  });
  back.addEventListener("click", () => show(current - 1));
  next.addEventListener("click", () => (current === last ? dialog.close() : show(current + 1)));
  dialog.addEventListener("close", () => {
    clearTimeout(timer);
    stage.pause();
  });
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the stage of the page has its own arrow keys
    if (event.defaultPrevented) return; // the stage in the dialog took it
    if (event.key === "ArrowRight" && current < last) show(current + 1);
    if (event.key === "ArrowLeft" && current > 0) show(current - 1);
  });
}
