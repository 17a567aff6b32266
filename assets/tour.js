// The guided tour: acts on small recorded races, in a dialog with a stage of its own. An act's picture moves once, when the
// act is opened: its lanes, or the rounds of its review. Then it rests, until Replay runs its lanes in slow motion and moves
// it again. Escape and Close end the tour, the arrow keys step, and 1, 2 and 3 answer the question. On a slide, b blanks the
// screen, and l loses a race on the page.
// An act with a recipe has a button for it: the tour ends, and the page races (assets/page/racing.js). `logs` holds the race of
// each act but the closing one, which a talk ends with, and `others` those with which its boundary can be moved, or the one
// that comes with its answer, see csd/stage/tour.py.

function startTour(root, logs, others) {
  const SECONDS = 5; // that the lanes of an act run
  const MOVES = { ArrowRight: 1, ArrowLeft: -1, PageDown: 1, PageUp: -1 }; // a clicker has the last two
  const SEEN = 3000; // milliseconds that the buttons of a slide are seen after the pointer has moved
  const TOLD = 3000; // milliseconds for the rounds of a step on a slide of a talk
  const READ = 1200; // milliseconds for the words of an act before its picture moves
  const BEGUN = 0.25; // of the race: an act that is all motion begins with something to see
  const [dialog, lose, again, back, next, place] = ["dialog", ".tour-lose", ".tour-again", ".tour-back", ".tour-next", ".cascade-stage"]
    .map((selector) => root.querySelector(selector));
  const acts = [...root.querySelectorAll("section")];
  const questions = [...root.querySelectorAll(".tour-question")];
  const tried = [...root.querySelectorAll(".tour-tried")]; // of each act
  let untell = null; // called where a talk goes back to the race that it began with
  let route = []; // the acts of this visit, as indices: all but the closing one, or those of a talk
  let current = 0;
  let resting = 0; // the timer of the pointer
  let moving = 0; // the timer of the picture that is about to move
  let isMoved = false; // whether the reader has moved a boundary: what changes is seen at once
  let told = []; // factor, whose it is, and what it is over: of the race that a talk began with
  let won = null; // the same of the last race that a cascade won meanwhile
  let scrolledTo = 0; // where the page was when the tour was opened, in pixels
  let stage = null; // made when the tour is opened for the first time

  function show(act) {
    clearTimeout(moving);
    current = act;
    acts.forEach((one, i) => { one.hidden = i !== current; });
    questions.forEach((one, i) => { one.hidden = i !== current || !isAsked(); });
    ask(questions[current]);
    tried.forEach((one, i) => { one.hidden = i !== current || !one.hasChildNodes(); });
    dialog.setAttribute("aria-labelledby", `tour-title-${current + 1}`);
    const before = isTalk() ? 1 : 0; // a talk begins with the race on the page
    acts[current].querySelector(".tour-count").textContent = `${before + placeOf() + 1} of ${before + route.length}`;
    back.disabled = placeOf() === 0;
    nameNext();
    lose.hidden = !acts[current].hasAttribute("data-recipe") || !document.getElementById("lose"); // a static site races nothing
    const kind = acts[current].dataset.show;
    dialog.dataset.show = kind;
    dialog.toggleAttribute("data-slide", document.documentElement.classList.contains("cs-presenting"));
    isMoved = false;
    dialog.scrollTop = 0;
    next.focus({ preventScroll: true });
    if (kind === "closing") return void tellWon(acts[current].querySelector(".tour-won"));
    for (const one of tried[current].querySelectorAll("button:not([data-step])")) delete one.dataset.more; // no time before it is tried
    const first = isTalk() ? null : tried[current].querySelector("[data-begins]");
    if (first) move(first);
    else {
      press(null);
      draw(`act ${current + 1}`, logs[current]); // and rest
    }
    if (kind === "text" || (kind === "result" && moves())) begin(BEGUN);
  }

  const isTalk = () => dialog.hasAttribute("data-talk");

  // Where the act stands in the route.
  const placeOf = () => route.indexOf(current);
  const isLast = () => placeOf() === route.length - 1;

  // A talk that loses a race in the middle ends with the one that was won before, if it was at no rough speed.
  function noteRace(isFirst) {
    const headline = document.querySelector("#stage .cs-headline");
    const parts = [".cs-factor", ".cs-hero small", ".cs-lead"].map((part) => headline?.querySelector(part)?.textContent ?? "");
    const isWon = parts[0] && parts[2] && !headline.hasAttribute("data-beaten") && !parts[0].startsWith("\u2248");
    if (isFirst) told = parts;
    if (isFirst || isWon) won = isWon ? parts : null;
  }

  // Where no race was won, the slide has the number of the talk's own small race, and tells what the one before it came to.
  function tellWon(box) {
    noteRace(false);
    for (const [i, part] of ["b", "small", "span", ".tour-began"].entries()) {
      const node = box.querySelector(part);
      node.dataset.own ??= node.textContent;
      node.textContent = won ? won[i] ?? "" : node.dataset.own;
    }
    const [factor, , lead] = told;
    if (!won && factor) box.querySelector(".tour-began").append(` The race before them: ${factor} ${lead.split(":")[0]}.`);
  }

  function draw(race, log) {
    stage.update({ race, log });
    for (const text of place.querySelectorAll(".cs-text")) text.dataset.prompt = stage.race.open.prompt;
    const runs = (acts[current].dataset.drafting || "").split(",").filter(Boolean);
    runs.forEach((count, lane) => tellDrafting(place.querySelectorAll(".cs-track-row")[lane], count));
  }

  // What the act saves, where it is not runs of the big model.
  function tellDrafting(row, count) {
    const said = row.querySelector(".cs-name small");
    said.classList.add("tour-drafting");
    said.textContent = `small model: ${count} runs`;
  }

  // What Next does: nobody leaves an act without its answer.
  function nameNext() {
    next.textContent = !isAnswered() ? "Show answer" : isLast() ? "Done" : "Next";
  }

  function isAnswered() {
    return !isAsked() || questions[current].hasAttribute("data-answered");
  }

  // A talk asks few of the questions.
  function isAsked() {
    return choicesOf(questions[current]).length > 0 && (!isTalk() || acts[current].dataset.talk === "asked");
  }

  function goOn() {
    if (!isAnswered()) reveal();
    else if (isLast()) leave();
    else show(route[placeOf() + 1]);
  }

  // The lane with the boundary that was chosen takes the place of the last one.
  function move(button) {
    clearTimeout(moving);
    press(button);
    acts[current].toggleAttribute("data-moved", !button.hasAttribute("data-begins"));
    const number = [...tried[current].children].filter((one) => one.matches("button")).indexOf(button);
    draw(`act ${current + 1}, boundary ${number + 1}`, others[current][number]);
    const clocks = place.querySelectorAll(".cs-clock");
    button.dataset.more = clocks[clocks.length - 1].textContent; // how long the text took, once it was tried
  }

  // What the reader tries is seen at once.
  function tryOut(button) {
    isMoved = true;
    if (button.dataset.wrong) spoil(button.getAttribute("aria-pressed") === "true" ? null : button);
    else if (button.dataset.step) look(button);
    else move(button);
  }

  function look(button) {
    clearTimeout(moving);
    inspect(button.dataset.step);
  }

  // The guess of the button is wrong, or none is.
  function spoil(button) {
    clearTimeout(moving);
    press(button);
    inspect(acts[current].dataset.step);
    const place = button && Number(button.dataset.wrong);
    stage.spoil(place, button?.dataset.word);
    if (button) button.dataset.more = `${place} kept`;
  }

  function press(button) {
    for (const one of tried[current].querySelectorAll("button")) one.setAttribute("aria-pressed", String(one === button));
  }

  function goBack() {
    show(route[placeOf() - 1]);
  }

  // A talk at the race that it began with.
  function startAgain() {
    if (!untell) return void show(route[0]);
    untell();
    leave();
  }

  function ask(question) {
    if (!choicesOf(question).length) return;
    question.removeAttribute("data-answered");
    for (const choice of choicesOf(question)) {
      choice.disabled = false;
      choice.removeAttribute("data-taken");
    }
    question.querySelector(".tour-answer").replaceChildren();
  }

  // The choices stay: which was taken, and which is right.
  function answer(choice) {
    const question = questions[current];
    const said = question.querySelector(".tour-answer");
    const isRight = choice.hasAttribute("data-right");
    const verdict = document.createElement("b");
    verdict.textContent = isRight ? "Right." : `The answer is ${question.querySelector("[data-right] kbd").textContent}.`;
    verdict.toggleAttribute("data-right", isRight);
    question.toggleAttribute("data-answered", true);
    choice.toggleAttribute("data-taken", true);
    for (const one of choicesOf(question)) one.disabled = true;
    const own = tried[current].querySelector("[data-own]");
    isMoved = true; // the words tell what the picture comes to, so it is whole at once
    clearTimeout(moving);
    if (own) {
      const show = own.dataset.wrong ? spoil : move;
      for (const one of tried[current].querySelectorAll("button")) show(one); // so that each tells what it comes to
      show(own);
    }
    else if (others[current].length) draw(`act ${current + 1}, answered`, others[current][0]);
    else finish();
    nameNext();
    said.replaceChildren(verdict, ` ${said.dataset.answer}`);
    showAnswer();
    next.focus({ preventScroll: true });
  }

  // On a phone it may be below the window.
  function showAnswer() {
    questions[current].querySelector(".tour-answer")?.scrollIntoView({ block: "nearest" });
  }

  function finish() {
    clearTimeout(moving);
    stage.skip();
    rest();
  }

  // For who goes on and chooses nothing.
  function reveal() {
    answer(questions[current].querySelector("[data-right]"));
    questions[current].querySelector(".tour-answer b").textContent = `${questions[current].querySelector("[data-right] kbd").textContent}.`;
  }

  function choicesOf(question) {
    return [...question.querySelectorAll(".tour-choices button")];
  }

  // From a part of the race on, once the words of the act have been read.
  function begin(from) {
    if (!moves()) return void run(from);
    stage.seek(timeOf(from));
    moving = setTimeout(run, READ, from);
  }

  function run(from) {
    clearTimeout(moving);
    stage.play(timeOf(from));
  }

  // The time of a part of the race; the prompt has been read by all lanes.
  function timeOf(part) {
    const { lanes } = stage.race;
    const start = Math.min(...lanes.map(({ steps: [first] }) => first.line.c));
    return start + part * (Math.max(...lanes.map((lane) => lane.clock)) - start);
  }

  // The lanes are at their end: the review of the last one opens, and its rounds come one by one.
  function rest() {
    const { show: kind, lanes, step } = acts[current].dataset;
    if (kind !== "review" || place.dataset.state !== "done") return;
    if (!isMoved) dialog.dataset.levels = String(stage.race.lanes[lanes - 1].marks.size); // a picture of few rows is larger
    inspect(step);
    if (moves() && !isMoved) stage.watch(untell ? 0 : READ, untell ? TOLD : undefined);
  }

  // The review of a step of the last lane, and the button of its block.
  function inspect(step) {
    const top = dialog.scrollTop;
    stage.open(Number(acts[current].dataset.lanes), Number(step));
    dialog.scrollTop = top; // what is opened scrolls into view
    if (isAnswered()) showAnswer();
    const block = tried[current].querySelector(`[data-step="${step}"]`);
    if (block) press(block);
  }

  // On a slide the buttons come with a pointer that moves, and go with a key.
  function point() {
    clearTimeout(resting);
    dialog.toggleAttribute("data-pointer", true);
    resting = setTimeout(rested, SEEN);
  }

  function rested() {
    clearTimeout(resting);
    dialog.removeAttribute("data-pointer");
  }

  function moves() {
    return !matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  // The browser's Back closes the tour, and leaves the page where it is.
  function leave() {
    if (history.state?.tour) history.back();
    else dialog.close();
  }

  // `isOfTalk`: the few acts of a talk, and what to remember; `act` is a place in that route, from the end if negative.
  function open(act, isOfTalk = false, back = null) {
    untell = back;
    scrolledTo = scrollY;
    noteRace(act === 0);
    const isIn = (one) => (isOfTalk ? one.hasAttribute("data-talk") : one.dataset.show !== "closing");
    route = acts.map((_, i) => i).filter((i) => isIn(acts[i]));
    dialog.toggleAttribute("data-talk", isOfTalk);
    dialog.showModal();
    history.pushState({ ...history.state, tour: true }, "");
    if (!stage) {
      stage = CascadeStage.mount(place, { lasts: SECONDS });
      new MutationObserver(rest).observe(place, { attributeFilter: ["data-state"] });
    }
    rested();
    show(route.at(act));
  }

  root.querySelector("#tour-start").addEventListener("click", () => open(0));
  window.addEventListener("cascade-talk", ({ detail: { from, back } }) => open(from, true, back));
  root.querySelector(".tour-close").addEventListener("click", leave);
  window.addEventListener("popstate", () => dialog.close());
  dialog.addEventListener("cancel", (event) => { // Escape
    event.preventDefault();
    leave();
  });
  lose.addEventListener("click", () => {
    history.replaceState(null, ""); // going back takes a moment, and the race writes its own address
    dialog.close();
    window.dispatchEvent(new Event("cascade-lose"));
  });
  again.addEventListener("click", () => run(0));
  back.addEventListener("click", goBack);
  next.addEventListener("click", ({ detail }) => {
    const isDouble = detail > 1 && isAnswered() && choicesOf(questions[current]).length; // it would skip the answer that it has brought
    if (!isDouble) goOn();
  });
  for (const group of tried) group.addEventListener("click", ({ target }) => target.matches("button") && tryOut(target));
  root.querySelector(".tour-asked").addEventListener("click", ({ target }) => {
    const choice = target.closest(".tour-choices button");
    if (choice) answer(choice);
  });
  dialog.addEventListener("pointermove", ({ movementX, movementY }) => (movementX || movementY) && point());
  dialog.addEventListener("pointerdown", () => dialog.removeAttribute("data-blank"));
  dialog.addEventListener("close", () => {
    dialog.removeAttribute("data-blank");
    clearTimeout(moving);
    if (stage) stage.pause();
    scrollTo(0, scrolledTo); // the focus that goes back may have moved it
  });
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the stage of the page has its own arrow keys
    if (event.defaultPrevented) return; // the stage in the dialog took it
    rested();
    if (dialog.hasAttribute("data-blank")) { // a key brings the slide back, and does nothing else
      event.preventDefault();
      return void dialog.removeAttribute("data-blank");
    }
    const isSlide = dialog.hasAttribute("data-slide");
    if (isSlide && event.key === "?") return void dialog.toggleAttribute("data-keys");
    dialog.removeAttribute("data-keys");
    if (isSlide && event.key === "l" && document.getElementById("lose")) return void lose.click();
    if (isSlide && event.key === "b") return void dialog.toggleAttribute("data-blank");
    if (isSlide && event.key === "Home") return void startAgain();
    const by = MOVES[event.key];
    if (by) event.preventDefault(); // nor does the page behind it scroll
    if (by > 0 && untell && dialog.dataset.show === "result" && place.dataset.state === "replay") stage.skip(); // the slide is about the end
    else if (by > 0 && (!isLast() || !isAnswered())) goOn();
    else if (by < 0 && placeOf()) goBack();
    else if (by < 0 && untell) startAgain();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const choice = choicesOf(questions[current])["123".indexOf(event.key)];
    if (choice && !choice.disabled) answer(choice);
  });
}
