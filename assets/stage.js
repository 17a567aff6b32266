/* The stage: draws a race from its log, live and replayed. No dependencies; see csd/ui/stage.py for the lines of the log.

   const stage = CascadeStage.mount(element)   element: an empty <div class="cascade-stage">
   stage.update({race, log})                   the whole log so far; only what is new in it is processed
   stage.play(), stage.skip(), stage.seek(seconds)

   All text of prompts and models goes in through textContent. */
const CascadeStage = (() => {
  "use strict";

  const REPLAY_SECONDS = 8; // the slowest lane of a replay takes this long, or its real time where that is longer
  const REJECTED = [["target", "by target"], ["all", "all"], ["hidden", "hidden"]];
  const DASHES = ["2 6", "10 6", "", "14 5 2 5"]; // one line style per lane: lanes are ink, colours belong to levels
  const LONGEST_RUN = 24; // characters without white space after which a line may break anywhere
  const SVG = "http://www.w3.org/2000/svg";

  // ---- small tools

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
  const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const put = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const authorOf = (record, i) => (typeof record.who === "string" ? record.who : record.who[i]);
  const last = (list) => list[list.length - 1];

  function remembered(key, fallback) {
    try { return localStorage.getItem(key) || fallback; } catch { return fallback; }
  }
  function remember(key, value) {
    try { localStorage.setItem(key, value); } catch { /* storage may be blocked in a frame */ }
  }

  function seconds(value) {
    if (value < 0.1) return `${(value * 1000).toFixed(1)} ms`;
    return value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(1)} s`;
  }
  const rate = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0));

  // ---- text of tokens

  const decoder = () => new TextDecoder("utf-8", { ignoreBOM: true });

  // Pieces of one lane in a row: a character split over several tokens comes out whole at the token that ends it.
  function speller(pieces) {
    let bytes = decoder(), open = false;
    return {
      // Returns [what was left open before this token, the token's own text].
      next(id) {
        const piece = pieces.get(id);
        if (Array.isArray(piece)) {
          const text = bytes.decode(new Uint8Array(piece), { stream: true });
          open = text === "";
          return ["", text];
        }
        const before = open ? bytes.decode() : "";
        if (open) { bytes = decoder(); open = false; }
        return [before, piece === undefined ? "\uFFFD" : piece];
      },
      rest() {
        const text = open ? bytes.decode() : "";
        bytes = decoder(); open = false;
        return text;
      },
    };
  }

  // A lone token, such as a rejected one: what is no whole character shows its bytes.
  function alone(pieces, id) {
    const piece = pieces.get(id);
    if (!Array.isArray(piece)) return piece === undefined ? "\uFFFD" : piece;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(piece));
    } catch {
      return piece.map((byte) => `<${byte.toString(16).toUpperCase().padStart(2, "0")}>`).join("");
    }
  }

  // White space as text that copies clean; the signs for it are drawn by the style sheet.
  function textNodes(text, marked) {
    const nodes = [];
    for (const part of text.split(/(\r?\n|\t+| {2,})/)) {
      if (part === "") continue;
      if (part.endsWith("\n")) nodes.push(h("i", { class: "cs-break", "data-mark": nodes.length || !marked ? null : marked }), part);
      else if (part.startsWith("  ") || part.startsWith("\t")) nodes.push(h("i", { class: "cs-space", text: part }));
      else nodes.push(part);
    }
    return nodes;
  }
  const visible = (text) => text.replace(/\r?\n/g, "\u23CE").replace(/\t/g, "\u21E5").replace(/ /g, "\u00B7") || "(part of a character)";

  // ---- what the log says

  const emptyRace = () => ({ id: "", open: null, pieces: new Map(), lanes: [], close: null, message: "" });

  function laneOf(info, index) {
    return { info, index, prefill: [], steps: [], tokens: [], rejects: [], end: "", clock: 0, read: 0 };
  }

  // Adds one line of the log to the race; returns the lane it touched.
  function take(race, line) {
    for (const [id, piece] of Object.entries(line.p || {})) race.pieces.set(Number(id), piece);
    const lane = race.lanes[line.i];
    if (line.t === "open") {
      race.open = line;
      race.lanes = line.lanes.map(laneOf);
      race.levels = new Map(line.levels.map((level) => [level.name, level]));
    } else if (line.t === "prefill") {
      lane.prefill.push(line);
      lane.clock = Math.max(lane.clock, line.c + line.d);
      lane.read += line.d;
    } else if (line.t === "step") {
      takeStep(race, lane, line);
    } else if (line.t === "end") {
      lane.end = line.end;
    } else if (line.t === "close") {
      race.close = line;
    } else if (line.t === "message") {
      race.message = line.text;
    }
    return lane;
  }

  function takeStep(race, lane, line) {
    const before = last(lane.steps);
    const step = {
      line, from: lane.tokens.length, until: line.c + line.d,
      count: lane.tokens.length + line.x.length,
      decode: (before ? before.decode : 0) + line.d,
      marks: { ...(before ? before.marks : {}) },
      rejects: [],
    };
    line.x.forEach((id, j) => {
      const who = authorOf(line, j), level = levelOf(race, who);
      lane.tokens.push({ id, who, level, kind: kindOf(line.r, j), step, position: lane.tokens.length });
      step.marks[level.mark] = (step.marks[level.mark] || 0) + 1;
    });
    for (const fallen of rejectsOf(line.r, line.r)) {
      fallen.step = step;
      step.rejects.push(fallen);
      lane.rejects.push(fallen);
      fallen.index = lane.rejects.length - 1;
    }
    step.rejects.sort((one, other) => one.at - other.at || one.inner - other.inner);
    lane.steps.push(step);
    lane.clock = step.until;
  }

  const levelOf = (race, name) => race.levels.get(name) || { name, level: 0, mark: "0", look: "0" };

  // What the reviewer made of place j behind the review's start.
  function kindOf(review, j) {
    if (j < review.ok) return "accepted";
    if (!review.x) return "own";
    return review.ok < review.x.length ? "correction" : "bonus";
  }

  // Every run of proposals that some review in this step did not accept, with the place where it died.
  function rejectsOf(review, root) {
    const found = (review.in || []).filter((inner) => inner.ok !== undefined).flatMap((inner) => rejectsOf(inner, root));
    const x = review.x || [];
    if (review.ok < x.length) {
      found.push({
        at: review.at + review.ok, ids: x.slice(review.ok), by: review.by, inner: review === root ? 0 : 1,
        who: x.slice(review.ok).map((_, j) => authorOf(review, review.ok + j)), review,
      });
    }
    return found;
  }

  // The life of one token: who wrote it and what each review said of it, inner ones first.
  function historyOf(record, at, id, found = []) {
    for (const inner of record.in || []) historyOf(inner, at, id, found);
    const j = at - record.at, x = record.x || [];
    if (x[j] === id) {
      if (record.ok === undefined) found.push({ by: record.by, did: "proposed" });
      else found.push({ by: record.by, did: j < record.ok ? "accepted" : j === record.ok ? "rejected" : "did not judge",
                        p: (record.p || [])[j], q: (record.q || [])[j] });
    }
    if (record.ok !== undefined && record.y === id && j === record.ok) {
      found.push({ by: record.by, did: kindOf(record, j) === "own" ? "wrote" : `wrote as ${kindOf(record, j)}`, m: record.m });
    }
    return found;
  }

  // ---- the stage

  function mount(root) {
    let race = emptyRace(), views = [], processed = 0, known = null, frame = 0, following = null, shownLegend = -1;
    const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
    const state = (name) => { root.dataset.state = name; };

    // -- skeleton
    const legend = h("ul", { class: "cs-legend", "aria-label": "Levels" });
    const legendOf = h("span", { class: "cs-legend-of" });
    const replayLabel = h("span", { class: "cs-replay-label" });
    const replayButton = h("button", { type: "button", class: "cs-button cs-replay", text: "Replay", hidden: true,
                                       onclick: () => (root.dataset.state === "replay" ? skip() : play()) });
    const choice = h("span", { class: "cs-choice", role: "group", "aria-label": "Show rejected proposals" },
      h("span", { class: "cs-choice-name", text: "rejected" }));
    for (const [value, label] of REJECTED) {
      choice.append(h("button", { type: "button", class: "cs-button", "data-value": value, text: label, onclick: () => choose(value) }));
    }
    const transport = h("span", { class: "cs-transport" }, replayButton, replayLabel);
    const lanesBox = h("div", { class: "cs-lanes" });
    const plotBox = h("figure", { class: "cs-plot" });
    const notes = h("ul", { class: "cs-notes" });
    const said = h("p", { class: "cs-hidden", "aria-live": "polite" });
    const tip = h("div", { class: "cs-tip", role: "tooltip", id: `cs-tip-${Math.random().toString(36).slice(2)}`, hidden: true });
    const message = h("p", { class: "cs-message" });
    const empty = h("p", { class: "cs-empty", text: "Press Race: the lanes fill here, each token marked with the level that proposed it." });
    const body = h("div", { class: "cs-body" },
      h("div", { class: "cs-bar" }, legendOf, legend, choice),
      lanesBox, notes, plotBox);
    root.replaceChildren(empty, message, body, said, tip);
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", "Stage of the race");

    function choose(value) {
      root.dataset.rejected = value;
      remember("cascade-rejected", value);
      for (const button of choice.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.value === value));
      for (const view of views) view.bottoms = null;
      followAll();
    }

    // In a replay the text that is still to come has its place already, so that showing a step costs no layout.
    function followAll() {
      const replayed = root.dataset.state === "replay";
      for (const view of views) {
        if (!replayed) {
          if (view.follow) view.text.scrollTop = 1e7;
          continue;
        }
        if (!view.bottoms) view.bottoms = view.lane.steps.map((step) => step.node.offsetTop + step.node.offsetHeight);
        if (!view.height) view.height = view.text.clientHeight;
        const to = Math.max(0, Math.ceil((view.bottoms[view.shown - 1] || 0) + 14 - view.height));
        if (view.follow && to !== view.wanted) view.text.scrollTop = to;
        view.wanted = to;
      }
    }
    function newestAt(view) {
      return root.dataset.state === "replay" ? view.wanted || 0 : view.text.scrollHeight - view.text.clientHeight;
    }
    const wanted = remembered("cascade-rejected", "target");
    choose(REJECTED.some(([value]) => value === wanted) ? wanted : "target");

    // -- updates
    function update(value) {
      const { race: id = "", log = "" } = value || {};
      if (id !== known || log.length < processed) reset(id);
      const end = log.lastIndexOf("\n") + 1;
      if (end <= processed) return;
      const fresh = log.slice(processed, end);
      const whole = processed === 0; // everything at once: an earlier race
      processed = end;
      const touched = new Set();
      for (const text of fresh.split("\n")) {
        if (!text) continue;
        const line = JSON.parse(text);
        const lane = take(race, line);
        if (line.t === "open") open();
        else if (lane) touched.add(lane);
      }
      put(message, race.message);
      if (!race.open) return;
      for (const lane of touched) append(views[lane.index]);
      if (root.dataset.state === "replay") return; // what came in is drawn by the replay
      if (race.close) return finish(whole);
      drawAll(Infinity);
    }

    function reset(id) {
      stopFrames();
      race = emptyRace(); views = []; processed = 0; known = id; shownLegend = -1; following = null;
      root.dataset.race = id;
      state("idle");
      lanesBox.replaceChildren(); legend.replaceChildren(); notes.replaceChildren(); plotBox.replaceChildren();
      put(said, ""); put(message, ""); put(legendOf, ""); put(replayLabel, "");
      replayButton.hidden = true;
      hideTip();
    }

    function open() {
      state("live");
      views = race.lanes.map(laneView);
      lanesBox.style.setProperty("--cs-lanes", views.length);
      lanesBox.replaceChildren(...views.map((view) => view.box));
      following = last(views);
      buildLegend();
      buildPlot();
      choose(root.dataset.rejected);
    }

    // -- lanes
    function laneView(lane) {
      const name = lane.info.method;
      const settings = lane.info.title.startsWith(`${name}, `) ? lane.info.title.slice(name.length + 2) : "the target alone";
      const speller_ = speller(race.pieces);
      const part = (className, label) => {
        const value = h("b", { text: "\u2013" });
        return [value, h("span", { class: className }, value, ` ${label}`)];
      };
      const view = { lane, speller: speller_, drawn: 0, shown: 0, spans: [], dels: [], follow: true, run: 0, loose: true };
      view.state = h("span", { class: "cs-state", text: "waiting" });
      view.rate = h("b", { class: "cs-rate", text: "\u2013" });
      view.ratio = h("span", { class: "cs-ratio" });
      const [clock, clockBox] = part("cs-fact", "lane time");
      const [count, countBox] = part("cs-fact", "tokens");
      const [mat, matBox] = part("cs-fact", "MAT");
      matBox.title = "Mean tokens per run of the target, its own token included";
      Object.assign(view, { clock, count, mat });
      view.mix = h("div", { class: "cs-mix", "aria-hidden": "true" });
      view.parts = new Map();
      for (const entry of marksOf(race)) {
        const bar = h("span", { class: "cs-mix-part", "data-look": entry.look });
        view.parts.set(entry.mark, bar);
        view.mix.append(bar);
      }
      view.text = h("div", { class: "cs-text", tabindex: "0", role: "group", "aria-label": `Text of the lane ${name}. Arrow keys move through its tokens.` });
      view.badge = h("p", { class: "cs-badge" });
      view.speed = h("p", { class: "cs-speed" });
      view.remarks = h("div", { class: "cs-remarks" });
      const copy = h("button", { type: "button", class: "cs-button cs-copy", text: "copy text", title: "Copy the plain text of this lane", "aria-label": `Copy the text of the lane ${name}` });
      copy.addEventListener("click", async () => { put(copy, (await copyText(answer(view))) ? "copied" : "not allowed"); setTimeout(() => put(copy, "copy text"), 1500); });
      const pick = h("button", { type: "button", class: "cs-name", title: "Count the legend for this lane", onclick: () => { following = view; shownLegend = -1; drawLegend(); } },
        s("svg", { class: "cs-key", viewBox: "0 0 34 12", "aria-hidden": "true" }, s("path", { d: "M1 6H24", ...stroke(lane.index) }), marker(lane.index, 28, 6)),
        h("span", { text: name }));
      view.box = h("section", { class: "cs-lane", "aria-label": `Lane ${lane.index + 1}: ${lane.info.title}`, "data-lane": lane.index },
        h("header", { class: "cs-head" },
          h("div", { class: "cs-title" }, pick, view.state),
          h("div", { class: "cs-sub" }, h("span", { class: "cs-settings", text: settings, title: lane.info.title }), copy),
          h("div", { class: "cs-numbers" }, h("span", { class: "cs-big" }, view.rate, h("span", { class: "cs-unit", text: " tok/s" }), view.ratio),
            h("span", { class: "cs-facts" }, clockBox, countBox, matBox)),
          view.mix),
        view.text,
        h("footer", { class: "cs-foot" }, view.badge, view.speed, view.remarks));
      view.text.addEventListener("scroll", () => {
        view.follow = Math.abs(newestAt(view) - view.text.scrollTop) < 30;
      }, { passive: true });
      view.text.addEventListener("pointerover", (event) => pointed(view, event.target));
      view.text.addEventListener("pointerleave", hideTip);
      view.text.addEventListener("focusin", (event) => pointed(view, event.target));
      view.text.addEventListener("focusout", hideTip);
      view.text.addEventListener("keydown", (event) => walk(view, event));
      return view;
    }

    // Adds the steps of a lane that are not in the page yet; nothing that stands there is touched.
    function append(view) {
      const { lane } = view, fragment = document.createDocumentFragment();
      for (; view.drawn < lane.steps.length; view.drawn++) fragment.append(stepNode(view, lane.steps[view.drawn]));
      view.text.append(fragment);
      if (lane.end) spellOut(view, view.speller.rest());
    }

    function stepNode(view, step) {
      const box = h("span", { class: "cs-step" });
      const start = race.open.start, living = step.line.x.length;
      const waiting = [...step.rejects];
      step.line.x.forEach((_, j) => {
        const at = start + step.from + j;
        while (waiting.length && (waiting[0].at <= at || j === living - 1)) box.append(fallenNode(view, waiting.shift()));
        box.append(...tokenNodes(view, view.lane.tokens[step.from + j]));
      });
      waiting.forEach((fallen) => box.append(fallenNode(view, fallen)));
      step.node = box;
      return box;
    }

    // Lines break between tokens, before white space or after it; a long run without any breaks where it must.
    function tokenNodes(view, token) {
      const [before, text] = view.speller.next(token.id);
      spellOut(view, before);
      const mark = token.kind === "bonus" ? "+" : token.level.mark;
      const node = h("span", {
        class: "cs-token", "data-level": token.level.mark, "data-look": token.level.look, "data-author": token.who,
        "data-kind": token.kind, "data-mark": mark, "data-i": token.position, tabindex: "-1",
      });
      node.append(...textNodes(text, mark));
      if (text === "") node.classList.add("cs-part");
      else if (text.includes("\n")) node.classList.add("cs-breaks");
      if (text.length > LONGEST_RUN) node.classList.add("cs-long");
      view.spans.push(node);
      const free = /^\s/.test(text) || view.loose || view.run + text.length > LONGEST_RUN || /^[\u2E80-\uFFDC]/.test(text);
      view.run = (free ? 0 : view.run) + text.length;
      view.loose = /\s$/.test(text);
      return free ? [h("wbr"), node] : [node];
    }

    // Bytes that turned out to be no character: they show at the token that left them open.
    function spellOut(view, text) {
      if (!text) return;
      const node = last(view.spans);
      node.classList.remove("cs-part");
      node.append(text);
    }

    function fallenNode(view, fallen) {
      const box = h("del", { class: "cs-fallen", "data-inner": fallen.inner ? "1" : null },
        h("span", { class: "cs-hidden", text: "rejected:" }));
      view.run = 0;
      fallen.ids.forEach((id, j) => {
        const level = levelOf(race, fallen.who[j]);
        box.append(h("wbr"), h("span", {
          class: "cs-rejected", "data-rejected-by": fallen.by, "data-proposed-by": fallen.who[j], "data-look": level.look,
          "data-mark": level.mark, "data-r": fallen.index, "data-j": j, text: alone(race.pieces, id).replace(/\r?\n/g, "\u23CE"),
        }));
      });
      return box;
    }

    const answer = (view) => view.spans.map((node) => node.textContent).join("");

    async function copyText(text) {
      try {
        await navigator.clipboard.writeText(text);
        return true;
      } catch {
        const area = h("textarea", { class: "cs-hidden" });
        area.value = text;
        root.append(area);
        area.select();
        const done = document.execCommand("copy"); // pages without the clipboard API, such as files and plain http
        area.remove();
        return done;
      }
    }

    // -- numbers of a lane after its first n steps; v is the time on its clock, Infinity for the end
    function drawLane(view, n, v) {
      const { lane } = view, step = lane.steps[n - 1];
      const clock = Math.min(v, lane.clock);
      const count = step ? step.count : 0;
      const speed = step && step.decode ? count / step.decode : 0;
      view.now = { speed, count, clock };
      put(view.rate, speed ? rate(speed) : "\u2013");
      put(view.count, String(count));
      put(view.clock, clock ? seconds(clock) : "\u2013");
      put(view.mat, step ? (count / n).toFixed(2) : "\u2013");
      const over = n === lane.steps.length && v >= lane.clock;
      const name = lane.end && over ? (lane.end === "stopped" ? "stopped" : "done") : step ? "decoding" : lane.prefill.length && clock ? "prefill" : "waiting";
      put(view.state, name);
      view.box.dataset.laneState = name;
      view.state.dataset.name = name;
      for (const [mark, bar] of view.parts) {
        const share = step && count ? ((step.marks[mark] || 0) / count) : 0;
        const width = `${(share * 100).toFixed(1)}%`;
        if (bar.style.width !== width) bar.style.width = width;
      }
    }

    function drawRatios() {
      const reference = views.find((view) => view.lane.info.method === "autoregressive");
      for (const view of views) {
        const known_ = reference && reference.now && reference.now.speed && view.now && view.now.speed;
        put(view.ratio, known_ ? `\u00D7${(view.now.speed / reference.now.speed).toFixed(2)}` : "");
      }
    }

    // Draws everything as of time v on the lanes' clocks.
    function drawAll(v) {
      for (const view of views) {
        const { steps } = view.lane;
        let n = v === Infinity ? steps.length : view.shown;
        if (v !== Infinity) while (n < steps.length && steps[n].until <= v) n++;
        if (n !== view.shown) {
          if (v !== Infinity) for (let i = view.shown; i < n; i++) steps[i].node.classList.add("cs-on");
          view.shown = n;
        }
        drawLane(view, n, v);
      }
      drawRatios();
      drawLegend();
      drawPlot(v);
      followAll();
    }

    // -- legend
    function marksOf(of) {
      const entries = new Map();
      for (const level of of.open.levels) {
        const entry = entries.get(level.mark) || { mark: level.mark, look: level.look, names: [] };
        entry.names.push(level.name);
        entries.set(level.mark, entry);
      }
      return [...entries.values()];
    }

    function buildLegend() {
      legend.replaceChildren(...marksOf(race).map((entry) => {
        const count = h("span", { class: "cs-legend-count" });
        const title = entry.mark === "T" ? "The target's own tokens: T a correction or its own, + a bonus behind an accepted draft" : entry.names.join(" and ");
        const button = h("button", { type: "button", class: "cs-legend-item", "aria-pressed": "false", "data-level": entry.mark,
                                     title: `${title}. Press to bring out these tokens.`, onclick: () => solo(entry.mark) },
          h("span", { class: "cs-swatch", "data-look": entry.look, text: entry.mark }),
          h("span", { class: "cs-legend-name", text: entry.names.join(" / ") }), count);
        button.count = count;
        return h("li", {}, button);
      }));
    }

    function solo(mark) {
      const on = root.dataset.solo === mark ? "" : mark;
      root.dataset.solo = on;
      for (const button of legend.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.level === on));
    }

    function drawLegend() {
      if (!following) return;
      const n = following.shown || 0;
      if (n === shownLegend) return;
      shownLegend = n;
      const step = following.lane.steps[n - 1];
      put(legendOf, views.length > 1 ? `share in ${following.lane.info.method}` : "share");
      for (const button of legend.querySelectorAll("button")) {
        const count = step ? step.marks[button.dataset.level] || 0 : 0;
        put(button.count, step ? `${count} \u00B7 ${Math.round((100 * count) / step.count)} %` : "0");
      }
      for (const view of views) view.box.classList.toggle("cs-counted", view === following && views.length > 1);
    }

    // -- plot: tokens over the lane's own clock
    const plot = { width: 0, height: 0, x: 1, y: 1, lines: [] };
    const sizes = new ResizeObserver(() => {
      if (!race.open || plotBox.clientWidth === plot.width) return;
      for (const view of views) view.bottoms = view.height = null;
      plot.width = 0;
      drawPlot(root.dataset.state === "replay" ? plot.v : Infinity);
    });
    sizes.observe(plotBox);

    const stroke = (index) => ({ fill: "none", class: "cs-line", "stroke-dasharray": DASHES[index % DASHES.length] });
    function marker(index, x, y) {
      const shapes = [
        () => s("circle", { cx: x, cy: y, r: 4.5 }),
        () => s("rect", { x: x - 4, y: y - 4, width: 8, height: 8 }),
        () => s("path", { d: `M${x} ${y - 5.5}L${x + 5} ${y + 4}H${x - 5}Z` }),
        () => s("path", { d: `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z` }),
      ];
      return fill(shapes[index % shapes.length](), { class: "cs-marker" }, []);
    }

    function nice(value) {
      const ten = 10 ** Math.floor(Math.log10(value));
      return [1, 2, 2.5, 5, 10].map((m) => m * ten).find((step) => step >= value * 0.999);
    }

    function buildPlot() {
      plot.width = 0;
      plot.grid = s("g", { class: "cs-grid" });
      plot.lines = views.map((view) => {
        const group = s("g", { class: "cs-curve" });
        const path = s("path", stroke(view.lane.index));
        const dot = s("g", {}, marker(view.lane.index, 0, 0));
        const label = s("text", { class: "cs-end" });
        group.append(path, dot, label);
        return { group, path, dot, label, view };
      });
      plot.svg = s("svg", { role: "img", "aria-label": "Tokens written over each lane's own clock" }, plot.grid, ...plot.lines.map((line) => line.group));
      plotBox.replaceChildren(
        h("figcaption", { class: "cs-caption" }, transport, h("span", {}, h("b", { text: "Tokens over the lane's clock" }),
          views.length > 1 ? ` \u2013 ${["", "", "two", "three", "four"][views.length] || views.length} lanes share one device; each has its own clock` : "")),
        plot.svg);
    }

    const PAD = { left: 46, right: 24, top: 12, bottom: 42 };
    function drawPlot(v) {
      if (!plot.svg) return;
      plot.v = v;
      const clocks = views.map((view) => view.lane.clock);
      const most = Math.max(...race.open.lanes.map((lane) => lane.max), 1);
      const written = Math.max(...views.map((view) => view.lane.tokens.length), 1);
      const y = race.close ? written : Math.max(most, written);
      const longest = Math.max(...clocks, 0.001);
      const x = race.close ? longest : nice(longest);
      if (!plot.width || x !== plot.x || y !== plot.y) {
        plot.width = plotBox.clientWidth || 600;
        plot.height = plot.svg.clientHeight || 190;
        plot.x = x; plot.y = y;
        drawGrid();
      }
      const px = (time) => PAD.left + (time / plot.x) * (plot.width - PAD.left - PAD.right);
      const py = (count) => plot.height - PAD.bottom - (count / plot.y) * (plot.height - PAD.top - PAD.bottom);
      const ends = [];
      for (const line of plot.lines) {
        const { lane, shown } = line.view;
        const points = [`M${px(lane.steps.length ? lane.steps[0].line.c : 0).toFixed(1)} ${py(0).toFixed(1)}`];
        for (let i = 0; i < shown; i++) points.push(`L${px(lane.steps[i].until).toFixed(1)} ${py(lane.steps[i].count).toFixed(1)}`);
        const step = lane.steps[shown - 1];
        line.group.style.display = step ? "" : "none";
        if (!step) continue;
        line.path.setAttribute("d", points.join(""));
        ends.push({ line, x: px(step.until), y: py(step.count), text: `${lane.info.method} ${rate(line.view.now ? line.view.now.speed : 0)} tok/s` });
      }
      placeEnds(ends);
    }

    function drawGrid() {
      const { width, height } = plot, grid = [];
      plot.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      const stepX = nice(plot.x / 8), stepY = nice(plot.y / 4);
      const right = width - PAD.right, bottom = height - PAD.bottom;
      const digits = Math.max(0, -Math.floor(Math.log10(stepX) + 1e-9) + (String(stepX).includes("25") ? 1 : 0));
      for (let i = 0; i * stepX <= plot.x * 1.001; i++) {
        const at = PAD.left + (i * stepX / plot.x) * (right - PAD.left);
        grid.push(s("path", { d: `M${at} ${PAD.top}V${bottom}` }), s("text", { x: at, y: bottom + 17, "text-anchor": "middle", text: (i * stepX).toFixed(digits) }));
      }
      for (let i = 0; i * stepY <= plot.y * 1.001; i++) {
        const at = bottom - (i * stepY / plot.y) * (bottom - PAD.top);
        grid.push(s("path", { d: `M${PAD.left} ${at}H${right}` }), s("text", { x: PAD.left - 7, y: at + 5, "text-anchor": "end", text: String(i * stepY) }));
      }
      grid.push(s("text", { x: (PAD.left + right) / 2, y: height - 6, "text-anchor": "middle", text: "seconds on the lane's own clock" }));
      grid.push(s("text", { x: PAD.left + 4, y: PAD.top + 12, text: "tokens" }));
      plot.grid.replaceChildren(...grid);
    }

    // Labels stand beside the lines' ends, at the first place where they cover no other label and no other end.
    function placeEnds(ends) {
      const taken = ends.map((end) => ({ from: end.x - 8, to: end.x + 8, top: end.y - 9, bottom: end.y + 9, end }));
      for (const end of ends.sort((one, other) => one.x - other.x || one.y - other.y)) {
        const wide = end.text.length * 7.6 + 6;
        let best = null;
        for (let down = 0; down < 5 && !best; down++) {
          for (const side of [1, -1]) {
            const from = side > 0 ? end.x + 12 : end.x - 12 - wide, top = end.y - 9 + 19 * down;
            const place = { from, to: from + wide, top, bottom: top + 18, side };
            const free = from >= PAD.left && place.to <= plot.width && !taken.some((other) =>
              other.end !== end && place.from < other.to && other.from < place.to && place.top < other.bottom && other.top < place.bottom);
            if (free) { best = place; break; }
          }
        }
        best = best || { from: end.x - 12 - wide, to: end.x - 12, top: end.y - 9, bottom: end.y + 9, side: -1 };
        taken.push(best);
        end.line.dot.setAttribute("transform", `translate(${end.x.toFixed(1)} ${end.y.toFixed(1)})`);
        end.line.label.setAttribute("x", best.side > 0 ? best.from : best.to);
        end.line.label.setAttribute("y", best.top + 14);
        end.line.label.setAttribute("text-anchor", best.side > 0 ? "start" : "end");
        put(end.line.label, end.text);
      }
    }

    // -- the end, and the replay
    function total() { return Math.max(0, ...race.lanes.map((lane) => lane.clock)); }

    function finish(whole) {
      if (!views.some((view) => view.verdict)) showVerdict();
      const quick = total() > 0 && total() < REPLAY_SECONDS;
      drawAll(Infinity);
      if (race.close.play && quick && !calm()) return play();
      settle();
      if (!whole || race.close.play) put(said, race.close.summary || "");
    }

    function showVerdict() {
      const close = race.close;
      views.forEach((view, i) => {
        const verdict = close.lanes[i] || {};
        view.verdict = true;
        put(view.badge, verdict.badge || "");
        view.badge.dataset.kind = verdict.kind || "none";
        put(view.speed, verdict.speed || "");
        view.remarks.replaceChildren(...(verdict.notes || []).map((text) => h("p", { text })));
      });
      notes.replaceChildren(...(close.notes || []).map((text) => h("li", { text })));
    }

    function settle() {
      stopFrames();
      state("done");
      put(replayLabel, total() ? `measured ${seconds(total())}` : "");
      put(replayButton, "Replay");
      replayButton.hidden = !total();
    }

    function play(from = 0) {
      if (!race.close || !total()) return;
      stopFrames();
      seekTo(from);
      const factor = Math.min(1, total() / REPLAY_SECONDS);
      put(replayLabel, `replay at ${factor < 0.095 ? factor.toPrecision(1) : factor.toFixed(2)}x, measured ${seconds(total())}`);
      put(replayButton, "Skip");
      replayButton.hidden = false;
      document.addEventListener("keydown", escaped);
      let started = null;
      const tick = (now) => {
        if (started === null) started = now;
        const v = from + ((now - started) / 1000) * factor;
        if (v >= total()) return ended();
        drawAll(v);
        frame = requestAnimationFrame(tick);
      };
      frame = requestAnimationFrame(tick);
    }

    function seekTo(v) {
      state("replay");
      for (const view of views) {
        view.shown = 0;
        view.follow = true;
        view.bottoms = view.height = view.wanted = null;
        for (const step of view.lane.steps) step.node.classList.remove("cs-on");
      }
      shownLegend = -1;
      drawAll(v);
    }

    function ended() {
      settle();
      drawAll(Infinity);
      put(said, race.close.summary || "");
    }

    function skip() { if (root.dataset.state === "replay") ended(); }
    function escaped(event) { if (event.key === "Escape") { event.preventDefault(); skip(); } }

    function stopFrames() {
      cancelAnimationFrame(frame);
      document.removeEventListener("keydown", escaped);
    }

    // -- the tooltip of a token
    function pointed(view, node) {
      const target = node.closest && node.closest(".cs-token, .cs-rejected");
      if (!target) return hideTip();
      const rows = target.dataset.i !== undefined ? aboutToken(view.lane.tokens[Number(target.dataset.i)], target)
        : aboutRejected(view.lane.rejects[Number(target.dataset.r)], Number(target.dataset.j));
      tip.replaceChildren(...rows.map(([name, value]) => h("p", {}, h("span", { class: "cs-tip-name", text: name }), h("span", { text: value }))));
      tip.hidden = false;
      target.setAttribute("aria-describedby", tip.id);
      const box = target.getClientRects()[0] || target.getBoundingClientRect();
      const wide = tip.offsetWidth, high = tip.offsetHeight;
      const up = box.bottom + high + 10 > innerHeight && box.top - high - 8 > 0;
      tip.style.left = `${Math.max(8, Math.min(box.left, innerWidth - wide - 8))}px`;
      tip.style.top = `${up ? box.top - high - 8 : box.bottom + 8}px`;
    }
    function hideTip() { tip.hidden = true; }

    const shown = (name) => { const level = levelOf(race, name); return level.mark === "T" ? `${name} (T)` : `${name} (level ${level.level})`; };
    const number = (value) => (value === undefined ? null : Number(value).toPrecision(3));

    function events(history) {
      return history.map((event) => {
        const numbers = [["p", event.p], ["q", event.q], ["margin", event.m]].filter(([, value]) => value !== undefined && value !== null)
          .map(([name, value]) => `${name} ${number(value)}`).join(", ");
        return [event.did, shown(event.by) + (numbers ? `, ${numbers}` : "")];
      });
    }

    function aboutToken(token, node) {
      const review = token.step.line.r, at = race.open.start + token.position;
      return [
        ["token", `${visible(node.textContent)}   id ${token.id}`],
        ["position", `${token.position} of the answer, ${at} with the prompt`],
        ["proposed by", shown(token.who)],
        ["in the text", { accepted: "accepted by the target", correction: "the target's correction", bonus: "the target's bonus behind an accepted draft", own: "written by the target alone" }[token.kind]],
        ...events(historyOf(review, at, token.id)),
      ];
    }

    function aboutRejected(fallen, j) {
      const at = fallen.at + j, start = race.open.start;
      return [
        ["token", `${visible(alone(race.pieces, fallen.ids[j]))}   id ${fallen.ids[j]}`],
        ["position", `${at - start} of the answer, ${at} with the prompt`],
        ["proposed by", shown(fallen.who[j])],
        ["rejected by", shown(fallen.by) + (j ? ", with the token before it: not judged itself" : "")],
        ...events(historyOf(fallen.review, at, fallen.ids[j]).filter((event) => event.by !== fallen.by)),
      ];
    }

    // Arrow keys move from token to token, so that the tooltip needs no mouse and the page no 500 tab stops.
    function walk(view, event) {
      const here = view.spans.indexOf(document.activeElement), end = view.spans.length - 1;
      const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: end }[event.key];
      if (to === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || end < 0) return;
      event.preventDefault();
      view.spans[Math.max(0, Math.min(end, to))].focus();
    }

    return {
      update, play, skip,
      seek(v) { if (race.close) { stopFrames(); seekTo(Math.max(0, Math.min(v, total()))); put(replayLabel, `at ${seconds(v)} of ${seconds(total())}`); put(replayButton, "Skip"); replayButton.hidden = false; } },
      get race() { return race; },
    };
  }

  return { mount };
})();
