// The guided tour: acts on a small recorded race, in a dialog with a stage of its own. The lanes of an act run in slow
// motion; when they have finished, the review that the act speaks of opens below them. Escape and Close end the tour, the
// arrow keys step. `logs` holds the race of each act, see csd/stage/tour.py.

function startTour(root, logs) {
  const SECONDS = 5; // that the lanes of an act run
  const [dialog, again, back, next, place] = ["dialog", ".tour-again", ".tour-back", ".tour-next", ".cascade-stage"]
    .map((selector) => root.querySelector(selector));
  const acts = [...root.querySelectorAll("section")];
  const last = acts.length - 1;
  let current = 0;
  let stage = null; // made when the tour is opened for the first time

  function show(act) {
    current = Math.max(0, Math.min(act, last));
    acts.forEach((one, i) => { one.hidden = i !== current; });
    dialog.setAttribute("aria-labelledby", `tour-title-${current + 1}`);
    back.disabled = current === 0;
    next.textContent = current === last ? "Done" : "Next";
    const kind = acts[current].dataset.show;
    dialog.dataset.show = kind;
    again.hidden = kind === "result";
    stage.update({ race: `act ${current + 1}`, log: logs[current] });
    if (!again.hidden) run();
    next.focus();
  }

  // The prompt has been read by all lanes: something happens at once.
  function run() {
    stage.play(Math.min(...stage.race.lanes.map((lane) => lane.prefillSeconds)));
  }

  // The lanes have come to their end.
  function rest() {
    const { show: kind, lanes } = acts[current].dataset;
    if (kind === "review" && place.dataset.state === "done") stage.open(Number(lanes), 1);
  }

  root.querySelector("#tour-start").addEventListener("click", () => {
    dialog.showModal();
    if (!stage) {
      stage = CascadeStage.mount(place, { lasts: SECONDS });
      new MutationObserver(rest).observe(place, { attributeFilter: ["data-state"] });
    }
    requestAnimationFrame(() => show(0));
  });
  root.querySelector(".tour-close").addEventListener("click", () => dialog.close());
  again.addEventListener("click", run);
  back.addEventListener("click", () => show(current - 1));
  next.addEventListener("click", () => (current === last ? dialog.close() : show(current + 1)));
  dialog.addEventListener("close", () => stage.pause());
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the stage of the page has its own arrow keys
    if (event.defaultPrevented) return; // the stage in the dialog took it
    if (event.key === "ArrowRight" && current < last) show(current + 1);
    if (event.key === "ArrowLeft" && current > 0) show(current - 1);
  });
}
