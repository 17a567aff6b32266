// What the page does in the browser. csd/web names these functions in its events; they get the values of the event's
// inputs and return those of its outputs.
const CascadePage = (() => {
  "use strict";

  const byId = (id) => document.getElementById(id);
  const stageRoot = () => document.querySelector("#stage .cascade-stage");
  const stage = () => stageRoot().cascadeStage;

  // ---- Gradio draws its parts one after another. They come into view together, so that nothing moves.

  const LONGEST_DRAWING = 15000; // milliseconds: whatever is there by then is shown

  function drawTogether() {
    document.documentElement.setAttribute("data-drawing", "");
    setTimeout(showDrawn, LONGEST_DRAWING);
  }

  const showDrawn = () => document.documentElement.removeAttribute("data-drawing");

  // Presses the button that an event names; an empty id presses nothing.
  function press(id) {
    if (id) byId(id).click();
  }

  // ---- what a button opens: the drawer with the settings, the panel with the races

  const OPENED = { more: "advanced", races: "races-panel" }; // by the id of the button
  const OPENS = "cascade-panel"; // the event of a panel that opens, here or in controls/puzzles.js

  const isOpen = (button) => byId(OPENED[button]).hasAttribute("data-open");

  function toggle(button) {
    if (isOpen(button)) {
      close(button);
      return;
    }
    const panel = byId(OPENED[button]);
    panel.setAttribute("data-open", "");
    byId(button).setAttribute("aria-expanded", "true");
    window.dispatchEvent(new CustomEvent(OPENS, { detail: panel }));
    panel.focus();
  }

  // In a narrow window one panel is open at a time; in a wide one the puzzles stand beside the settings.
  function closeOthers({ detail }) {
    if (!matchMedia("(max-width: 1000px)").matches) return;
    Object.keys(OPENED).filter((button) => byId(OPENED[button]) !== detail).forEach(close);
  }

  // The focus goes back to the button that opened the panel, unless it is already somewhere else.
  function close(button) {
    if (!isOpen(button)) return;
    const panel = byId(OPENED[button]);
    const hadFocus = panel.contains(document.activeElement);
    panel.removeAttribute("data-open");
    byId(button).setAttribute("aria-expanded", "false");
    if (hadFocus) byId(button).focus();
  }

  function closeOnEscape(event) {
    if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
    const at = document.activeElement;
    if (at.getAttribute("aria-expanded") === "true" && at.matches("input")) return; // closes its list of options first
    if (!byId("stage").contains(at)) Object.keys(OPENED).forEach(close);
  }

  function closeRacesOutside({ target }) {
    if (!target.closest("#replays")) close("races");
  }

  // The text of the button that opens the drawer, such as "embedded · adaptive cascade · 64 tokens".
  function settingsInWords(family, lanes, tokens, temperature) {
    const cascades = lanes.filter((name) => name.endsWith("cascade"));
    const words = [family, (cascades.length ? cascades : lanes.slice(-1)).join(" + "), `${tokens ?? "?"} tokens`];
    if (temperature) words.push(`temperature ${temperature}`);
    return words.filter(Boolean).join(" \u00B7 ");
  }

  // The prompt out of focus shows its first two lines.
  function scrollPromptUp({ target }) {
    if (target.matches("#prompt textarea")) target.scrollTop = 0;
  }

  // ---- the status line: one line; what does not fit is its title, and unfolds where it has the focus

  function watchStatus() {
    const status = byId("status");
    const follow = () => {
      const line = status.querySelector("p");
      if (!line) return;
      const waiting = tellWaiting((status.querySelector(".progress-text") || {}).textContent || "");
      if (waiting && line.textContent !== waiting) line.textContent = waiting;
      if (line.title !== line.textContent) line.title = line.textContent;
      line.toggleAttribute("tabindex", line.scrollWidth > line.clientWidth);
      if (line.hasAttribute("tabindex")) line.tabIndex = 0;
    };
    new MutationObserver(follow).observe(status, { subtree: true, childList: true, characterData: true });
    follow();
  }

  const SHORT_WAIT = 1; // seconds that a race waits at times though there is none before it

  // Gradio tells a race that waits "queue: 1/1 | 0.9/6.8s": its place, the seconds since, and those that it will take.
  function tellWaiting(told) {
    const [, place] = /queue: (\d+)/.exec(told) || [];
    const [, since, seconds] = /([\d.]+)(?:\/([\d.]+))?s$/.exec(told.trim()) || [];
    if (!place || Number(since || 0) < SHORT_WAIT) return "";
    const before = Number(place) === 1 ? "1 race" : `${place} races`;
    return `Waiting: ${before} before yours${seconds ? `, about ${Math.max(1, Math.round(seconds))} s` : ""}.`;
  }

  // ---- a race

  const RUNNING = "Your race is still running. Stop it, or wait for its end, before the next one.";

  const isRacing = () => byId("go").hasAttribute("data-racing");

  // The drawer gives way to the stage, and the status line comes into view with it where the window is too small. Returns
  // the status line. While a race runs there is no other one to begin: Gradio takes only one at a time.
  function beginRace() {
    if (isRacing()) return `<p>${RUNNING}</p>`;
    close("more");
    writeRace("");
    byId("go").setAttribute("data-racing", "");
    const [statusTop, stageTop] = ["status", "stage"].map((id) => byId(id).getBoundingClientRect().top);
    if (statusTop < 0 || stageTop > innerHeight / 2) byId("lines").scrollIntoView({ block: "start" });
    stage().wait(true);
    return "<p>Starting.</p>";
  }

  const PATIENCE = 4000; // milliseconds: an example that is in the form already changes nothing

  // The stage asks for a race, in place of one or while it is presented; with the name of an example, that is filled in before.
  async function raceForStage({ detail: { example } }) {
    if (isRacing()) return;
    const chip = [...document.querySelectorAll("#examples button")].find((one) => one.textContent.trim() === example);
    if (chip) {
      const told = new Promise((resolve) => window.addEventListener("cascade-prompt", resolve, { once: true }));
      chip.click();
      await Promise.race([told, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
      await new Promise((resolve) => setTimeout(resolve, 100)); // Gradio writes the other fields
    }
    byId("race").click();
  }

  function endRace() {
    byId("go").removeAttribute("data-racing");
    stage().wait(false);
  }

  // The stage compares its race's prompt with the form's. A field that Gradio fills in says nothing by itself.
  function tellPrompt() {
    requestAnimationFrame(() => window.dispatchEvent(new Event("cascade-prompt")));
  }

  // ---- the address: #theory and #compare are tabs, #race=ID is a recorded race or one that was linked,
  // #race=ID&lane=4&step=3 a place in it

  const ADDRESSED = ["recorded-", "linked-"]; // the ids of races that have addresses begin with one of these

  let shown = ""; // the fragment of the race on the stage; empty for the visitor's own, and for the one at the start

  const findTab = (name) => document.querySelector(`#tabs [role="tab"][data-tab-id="${CSS.escape(name)}"]`);
  const splitAddress = () => decodeURIComponent(location.hash.slice(1)).split("&");
  const addressed = () => splitAddress()[0];

  // Called when the race that the address names is about to be shown.
  function readAddress() {
    beginFilling();
    return addressed();
  }

  function writeAddress(fragment) {
    if (addressed() !== fragment) history.pushState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
  }

  // ---- what is typed while the server fills in the form stays

  const TYPED = ["prompt", "max-new", "temperature", "seed", "K"];
  const typed = new Map(); // text by field, since the last `beginFilling`

  function noteTyping({ target }) {
    const id = TYPED.find((name) => target.closest(`#${name}`));
    if (id) typed.set(id, target.value);
    if (id === "prompt") sessionStorage.setItem(KEPT, target.value);
  }

  const beginFilling = () => typed.clear();

  // The values of the fields TYPED, with what was typed meanwhile in place of what the server sent.
  function keepTyped(...values) {
    return values.map((value, i) => {
      if (!typed.has(TYPED[i])) return value;
      const text = typed.get(TYPED[i]);
      if (typeof value === "string") return text;
      return text.trim() === "" ? null : Number(text);
    });
  }

  // ---- a prompt that was typed comes back where the page is loaded again, by the visitor or because the server restarted

  const KEPT = "cascade-prompt"; // in sessionStorage, which belongs to the tab

  // Returns the status line. A link with a query says itself what the form holds.
  function restorePrompt(status) {
    const field = document.querySelector("#prompt textarea");
    const text = sessionStorage.getItem(KEPT);
    if (!text || !text.trim() || hasSettings() || text === field.value) return status;
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(field, text);
    field.dispatchEvent(new Event("input", { bubbles: true })); // Gradio hears of it by the event
    return "<p>The page was loaded again. Your prompt is back in the form.</p>";
  }

  // ---- the list of races: an event without another choice, as when it is closed with Escape, shows nothing

  let listed = ""; // the title that the list showed when it was opened

  const shownTitle = () => document.querySelector("#earlier input").value;

  function noteList({ target }) {
    if (target.closest("#earlier")) listed = shownTitle();
  }

  // Called with the id of the race in the list; presses the button that shows it.
  async function chooseRace(id) {
    await new Promise(requestAnimationFrame); // the list writes the title after its event
    if (shownTitle() === listed) return;
    listed = shownTitle();
    writeRace(id);
    byId("show-race").click();
  }

  // Called with the id of the race that the visitor has chosen.
  function writeRace(id) {
    close("races");
    beginFilling();
    const prefix = ADDRESSED.find((one) => String(id || "").startsWith(one));
    shown = prefix ? `race=${id.slice(prefix.length)}` : "";
    writeTab();
  }

  function writeTab() {
    const tab = document.querySelector('#tabs [role="tab"][aria-selected="true"]');
    if (tab) writeAddress(tab.dataset.tabId === "race" ? shown : tab.dataset.tabId);
  }

  // Goes where the address says: after Back and Forward, and when the page is opened.
  function followAddress() {
    const fragment = addressed();
    const isTab = ["theory", "compare"].includes(fragment);
    const wasShown = shown;
    if (!isTab) shown = fragment;
    findTab(isTab ? fragment : "race").click();
    if (!isTab && fragment !== wasShown) byId("follow-address").click();
    else arrive();
    if (fragment.startsWith("race=")) goToPlace(fragment.slice("race=".length), splitAddress().slice(1).join("&"));
  }

  // Goes to a step of a race, such as "lane=4&step=3", once the race of this name is on the stage.
  function goToPlace(name, place) {
    const [lane, step] = ["lane", "step"].map((name) => Number(new URLSearchParams(place).get(name)));
    const root = stageRoot();
    const isThere = () => ADDRESSED.some((prefix) => root.dataset.race === prefix + name) && stage().goTo(lane, step);
    const show = () => root.querySelector(".cs-opened").scrollIntoView({ block: "nearest" });
    if (!step) return;
    if (isThere()) return void show();
    const watcher = new MutationObserver(() => {
      if (!isThere()) return;
      watcher.disconnect();
      show();
    });
    watcher.observe(root, { attributeFilter: ["data-race", "data-state"] });
  }

  // ---- what a link brings comes in place of the race at the start, which is not seen playing under another prompt

  function awaitLink() {
    if (!addressed().startsWith("race=") && !hasSettings()) return;
    document.documentElement.setAttribute("data-arriving", "");
    stage().pause();
    setTimeout(arrive, LONGEST_DRAWING);
  }

  const arrive = () => document.documentElement.removeAttribute("data-arriving");

  // Whether the address fills in the form. Gradio's own names, such as __theme, begin with two underscores.
  const isOfForm = (name) => name !== hidden.parameter && !name.startsWith("__");
  const hasSettings = () => [...new URLSearchParams(location.search).keys()].some(isOfForm);

  // ---- controls that the address takes off the page

  const hidden = () => new URLSearchParams(location.search).get(hidden.parameter) || "";

  // `controls` are selectors by name. Runs before the page is drawn.
  function hideControls(controls, parameter) {
    hidden.parameter = parameter;
    const names = hidden().split(",").map((name) => name.trim()).filter((name) => Object.hasOwn(controls, name));
    const style = document.createElement("style");
    style.textContent = names.map((name) => `${controls[name]} { display: none !important; }`).join("\n");
    document.head.append(style);
  }

  // ---- links and files

  // The id of the race on the stage; empty while one runs.
  const shownRace = () => (isRacing() ? "" : stageRoot().dataset.race);

  // Copies the page's address with the form as its query, and with the place in the race on the stage where the link
  // has one; `omitted` says what the link leaves out. Returns a status line.
  async function copyLink(query, omitted) {
    const [search, race] = query.split("#");
    const { lane, step } = race ? stage().place() : {};
    const kept = hidden() && `${search ? "&" : "?"}${hidden.parameter}=${encodeURIComponent(hidden())}`;
    const fragment = race ? `#${race}${step ? `&lane=${lane}&step=${step}` : ""}` : "";
    const link = location.origin + location.pathname + search + kept + fragment;
    let said = "Link to these settings copied. It fills in the form; Race starts the race.";
    if (race) said = `Link to ${step ? `step ${step} of ` : ""}this race copied.`;
    let state = "";
    try {
      await navigator.clipboard.writeText(link);
    } catch {
      state = "whole";
      said = `The browser does not allow access to the clipboard. The link: ${link.replaceAll("&", "&amp;")}`;
    }
    return `<p data-state="${state}">${said} ${omitted}</p>`;
  }

  // Downloads the visible figures as "png" or "svg".
  async function downloadFigures(format) {
    for (const plot of document.querySelectorAll(".js-plotly-plot")) {
      if (!plot.offsetParent) continue;
      const filename = (plot.layout.title?.text || "figure").replace(/<[^>]*>/g, " ").toLowerCase()
        .replace(/[^a-z0-9]+/g, "-").slice(0, 60);
      const size = { width: plot.offsetWidth, height: plot.offsetHeight, scale: 2 };
      await window.Plotly.downloadImage(plot, { format, filename, ...size });
    }
  }

  // What Gradio's components cannot say by themselves. Runs once, when the page has been drawn.
  function start() {
    for (const [button, panel] of Object.entries(OPENED)) {
      const attributes = { role: "dialog", "aria-label": button === "more" ? "Settings" : "Races", tabindex: "-1" };
      for (const [name, value] of Object.entries(attributes)) byId(panel).setAttribute(name, value);
      byId(button).setAttribute("aria-expanded", "false");
      byId(button).setAttribute("aria-controls", panel);
    }
    byId("more").title = "Settings: models, methods, length, sampling";
    byId("status").setAttribute("aria-live", "polite");
    document.addEventListener("keydown", closeOnEscape);
    document.addEventListener("pointerdown", closeRacesOutside);
    window.addEventListener(OPENS, closeOthers);
    document.addEventListener("input", noteTyping);
    window.addEventListener("cascade-race", raceForStage);
    window.addEventListener("cascade-stop", () => byId("stop").click());
    document.addEventListener("focusout", scrollPromptUp);
    document.addEventListener("focusin", noteList);
    watchStatus();
    const watched = { subtree: true, childList: true, attributeFilter: ["aria-selected"] };
    new MutationObserver(writeTab).observe(document.querySelector("#tabs > .tab-wrapper"), watched);
    addEventListener("popstate", followAddress);
    tellPrompt();
    awaitLink();
    showDrawn();
  }

  return {
    start, drawTogether, tellPrompt, press, toggle, close, settingsInWords, beginRace, endRace, readAddress, writeRace, chooseRace,
    beginFilling, keepTyped, restorePrompt, followAddress, arrive, hideControls, shownRace, copyLink, downloadFigures,
  };
})();
window.CascadePage = CascadePage;
