/* The stage: draws a race from its log, live and replayed. No dependencies; see csd/ui/stage.py for the lines of the log.

   const stage = CascadeStage.mount(element)   element: an empty <div class="cascade-stage">
   stage.update({race, log})                   the whole log so far; only what is new in it is processed
   stage.play(), stage.pause(), stage.skip()   the replay of a finished race; skip goes to its end
   stage.seek(seconds), stage.step(n), stage.token(n)   to a time, or n reviews or tokens of the chosen lane on or back

   All text of prompts and models goes in through textContent. */
const CascadeStage = (() => {
  "use strict";

  const REPLAY_SECONDS = 8; // the slowest lane of a replay takes this long, or its real time where that is longer
  const SPEEDS = ["auto", "0.1", "0.25", "0.5", "1", "2", "4"]; // auto: slowed to REPLAY_SECONDS, never faster than life
  const OVERHEAD = "overhead";
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
  // Control signs and signs that turn the writing direction are named, so that they change nothing around them.
  const plain = (text) => text.replace(/\r?\n/g, "\u23CE").replace(/\t/g, "\u21E5")
    .replace(/[\u0000-\u001F\u007F-\u009F\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g,
      (sign) => `<U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);
  const visible = (text) => plain(text).replace(/ /g, "\u00B7") || "(part of a character)";
  // A token as a word: without the space before it, unless it is nothing else.
  const word = (pieces, id) => { const text = alone(pieces, id); return plain(text).trim() || visible(text); };
  const quoted = (pieces, id) => `\u201C\u2068${word(pieces, id)}\u2069\u201D`;
  const tokens = (n, kind = "") => `${n} ${kind}${kind && " "}token${n === 1 ? "" : "s"}`;

  // ---- what the log says

  const emptyRace = () => ({ id: "", open: null, pieces: new Map(), lanes: [], close: null, message: "" });

  function laneOf(info, index) {
    return { info, index, prefill: [], steps: [], tokens: [], rejects: [], end: "", clock: 0, read: 0,
             spans: new Map(), early: new Map(), spent: new Map(), decode: 0, idle: 0, used: new Set() };
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
      spend(lane.early, levelOf(race, line.by).mark, line.c, line.c + line.d);
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
      line, number: lane.steps.length + 1, from: lane.tokens.length,
      until: Math.max(line.c + line.d, before ? before.until + 1e-7 : 0),
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
    account(race, lane, line);
    lane.steps.push(step);
    lane.clock = step.until;
  }

  // Every review and draft of a round in the order in which they ended, inner ones first.
  function recordsOf(record, parent = null, found = []) {
    for (const inner of record.in || []) recordsOf(inner, record, found);
    found.push({ record, parent });
    return found;
  }

  function spend(map, mark, from, to) {
    if (to <= from) return;
    if (!map.has(mark)) map.set(mark, []);
    map.get(mark).push(from, to);
  }

  // Who computed when in a step: a record's time is its own work, what no record covers is overhead.
  function account(race, lane, line) {
    let until = line.c;
    for (const { record } of recordsOf(line.r)) {
      const mark = levelOf(race, record.by).mark, to = record.c + record.d;
      lane.used.add(mark);
      spend(lane.spans, OVERHEAD, until, record.c);
      spend(lane.spans, mark, record.c, to);
      until = Math.max(until, to);
      const sum = lane.spent.get(record.by) || { seconds: 0, runs: 0 };
      lane.spent.set(record.by, { seconds: sum.seconds + record.d, runs: sum.runs + (record.s ? 0 : 1) });
      lane.idle -= record.d;
    }
    spend(lane.spans, OVERHEAD, until, line.c + line.d);
    lane.decode += line.d;
    lane.idle += line.d;
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

  // ---- a review, opened

  const handed = (record) => (record.ok === undefined ? (record.x || []).length : record.ok + (record.y === undefined ? 0 : 1));

  // What became of a token at this place under the review that was shown it.
  function fateOf(at, parent) {
    if (!parent) return "text";
    const j = at - parent.at;
    return j < parent.ok ? "kept" : j === parent.ok ? "rejected" : "unjudged";
  }

  // A review as a score: a box for every round, numbered in the order in which they ended, on the row of its level.
  // A box holds what that round handed up; a row has more lines where rounds overlap.
  function scoreOf(race, step) {
    const root = step.line.r, rounds = recordsOf(root);
    const order = new Map(rounds.map(({ record }, i) => [record, i]));
    const rows = new Map();
    let to = root.at + 1;
    const boxes = rounds.map(({ record, parent }, i) => {
      const mark = levelOf(race, record.by).mark, cells = [];
      const kept = record.ok === undefined ? handed(record) : record.ok;
      for (let j = 0; j < kept; j++) cells.push({ at: record.at + j, id: record.x[j], who: authorOf(record, j), own: "" });
      if (record.y !== undefined) cells.push({ at: record.at + record.ok, id: record.y, who: record.by, own: kindOf(record, record.ok) });
      for (const cell of cells) cell.fate = fateOf(cell.at, parent);
      const end = record.at + cells.length;
      to = Math.max(to, end, record.at + (record.x || []).length);
      if (!rows.has(mark)) rows.set(mark, []);
      const ends = rows.get(mark); // first free place of each line of the row
      let line = ends.findIndex((free) => free <= record.at);
      if (line < 0) line = ends.length;
      ends[line] = Math.max(end, record.at + 1);
      return { record, parent, order: i, judged: parent ? order.get(parent) : i, mark, line, cells, from: record.at, to: end };
    });
    return { root, from: root.at, to, boxes, lines: new Map([...rows].map(([mark, ends]) => [mark, ends.length])) };
  }

  // The drafts of a block, one group for each level in a row: who wrote which places of it.
  function groupsOf(root) {
    const groups = [];
    let at = root.at;
    for (const record of root.in || []) {
      const n = handed(record), before = last(groups);
      if (before && before.by === record.by) { before.records.push(record); before.to += n; }
      else groups.push({ by: record.by, records: [record], from: at, to: at + n });
      at += n;
    }
    return groups;
  }

  const authorsOf = (records) => records.flatMap((record) => (record.x || []).map((_, j) => authorOf(record, j)));
  const namesOf = (records) => [...new Set(authorsOf(records))].join(" and ");

  // Where the tokens that a round was shown came from, in one word.
  function sourceOf(race, records) {
    const authors = authorsOf(records);
    if (authors.some((name) => levelOf(race, name).mark !== "0")) return "drafted";
    return authors.every((name) => name === "MaxGram") ? "copied" : "guessed";
  }
  const sum = (list, value) => list.reduce((all, one) => all + value(one), 0);
  const capital = (text) => text.replace(/^the /, "The "); // names of levels stay as they are

  function told(race, record) {
    const { pieces } = race, x = record.x || [], n = x.length;
    const by = levelOf(race, record.by).mark === "T" ? `the ${record.by}` : record.by;
    if (record.ok === undefined) return n ? `${namesOf([record])} ${sourceOf(race, [record])} ${tokens(n)}` : `${by} found nothing to copy`;
    if (record.s) return `${by} did nothing: ${record.s}`;
    const own = record.y === undefined ? "" : quoted(pieces, record.y);
    if (!n) return own ? `${by} wrote ${own} by itself` : `${by} wrote nothing`;
    const seen = `${by} reviewed ${tokens(n, sourceOf(race, [record]))}`;
    if (record.ok < n) return `${seen}, kept ${record.ok || "none"} and wrote ${own} in place of ${quoted(pieces, x[record.ok])}`;
    return `${seen}, kept ${n === 1 ? "it" : "all"}${own ? ` and added ${own}` : "; the text ends there"}`;
  }

  function toldGroup(race, group) {
    const { by, records } = group, n = records.length;
    if (n === 1) return told(race, records[0]);
    if (records[0].ok === undefined) return `${namesOf(records)} ${sourceOf(race, records)} ${tokens(sum(records, handed))}`;
    const seen = sum(records, (one) => (one.x || []).length), kept = sum(records, (one) => one.ok);
    const wrote = `${by} wrote ${tokens(sum(records, handed))}`;
    if (!seen) return `${wrote}, one at a time`;
    const kind = sourceOf(race, records);
    return `${wrote} in ${n} rounds, in which it kept ${kept} of ${tokens(seen, kind)} and added ${sum(records, (one) => (one.y === undefined ? 0 : 1))}`;
  }

  // What happened in a review of the root, in plain words.
  function toldReview(race, step) {
    const root = step.line.r, n = (root.x || []).length;
    const own = root.y === undefined ? "" : quoted(race.pieces, root.y);
    const parts = groupsOf(root).map((group) => toldGroup(race, group));
    const before = parts.length ? `${capital(parts.join("; then "))}. ` : "";
    if (!n) return `${before}The ${root.by} ran alone and wrote ${own}.`;
    const read = `${before}The ${root.by} read ${n === 1 ? "the token" : `the block of ${n}`} in one run, `;
    if (root.ok < n) return `${read}accepted ${root.ok || "none"}${root.ok ? ` of ${n}` : ""} and wrote its own ${own} in place of ${quoted(race.pieces, root.x[root.ok])}.`;
    return `${read}accepted ${n === 1 ? "it" : `all ${n}`}${own ? ` and added ${own}` : "; the text ends there"}.`;
  }

  // ---- the stage

  function mount(root) {
    let race = emptyRace(), views = [], processed = 0, known = null, following = null, shownLegend = -1;
    let v = Infinity; // the time on the lanes' clocks that is shown; Infinity where all is
    let frame = 0, tickedAt = 0, running = 0, hurried = false; // of the replay: its next frame, its time, whether it is dragged
    let picked = null; // the place of the chosen token in the chosen lane
    const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
    const state = (name) => { root.dataset.state = name; };

    // -- skeleton
    const legend = h("ul", { class: "cs-legend", "aria-label": "Levels" });
    const legendOf = h("span", { class: "cs-legend-of" });
    const choice = h("span", { class: "cs-choice", role: "group", "aria-label": "Show rejected proposals" },
      h("span", { class: "cs-choice-name", text: "rejected" }));
    for (const [value, label] of REJECTED) {
      choice.append(h("button", { type: "button", class: "cs-button", "data-value": value, text: label, onclick: () => choose(value) }));
    }
    const lanesBox = h("div", { class: "cs-lanes" });
    const plotBox = h("figure", { class: "cs-plot" });
    const budgetBox = h("section", { class: "cs-budget", "aria-label": "Time per level" });
    const notes = h("ul", { class: "cs-notes" });
    const said = h("p", { class: "cs-hidden", "aria-live": "polite" });
    const tip = h("div", { class: "cs-tip", role: "tooltip", id: `cs-tip-${Math.random().toString(36).slice(2)}`, hidden: true });
    const message = h("p", { class: "cs-message" });
    const empty = h("p", { class: "cs-empty", text: "Press Race: the lanes fill here, each token marked with the level that proposed it." });
    // -- controls of the replay
    const ICONS = { start: "M3 3h2v10H3zM13 3v10L6 8z", end: "M11 3h2v10h-2zM3 3v10l7-5z", play: "M4 2v12l10-6z", pause: "M3 2h4v12H3zM9 2h4v12H9z",
                    back: "M12 2v12L4 8z", on: "M4 2v12l8-6z" };
    const icon = (name) => s("svg", { class: "cs-icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, s("path", { d: ICONS[name] }));
    const tool = (name, label, key, act) => h("button", { type: "button", class: "cs-button cs-tool", "aria-label": label, title: `${label} (${key})`,
                                                          disabled: true, onclick: act }, icon(name));
    const playIcon = s("path", { d: ICONS.play }), playName = h("span", { text: "Replay" });
    const playButton = h("button", { type: "button", class: "cs-button cs-replay", title: "Play or pause (space)", disabled: true, onclick: toggle },
      s("svg", { class: "cs-icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, playIcon), playName);
    const scrubber = h("input", { type: "range", class: "cs-scrubber", min: "0", max: "10000", step: "1", value: "10000", disabled: true,
                                  "aria-label": "Time shown", oninput: () => scrub((Number(scrubber.value) / 10000) * total()), onchange: announce });
    const timeLabel = h("span", { class: "cs-time" });
    const speedBox = h("select", { class: "cs-speedbox", "aria-label": "Speed of the replay", title: "Speed of the replay (< >)", disabled: true,
                                   onchange: () => setSpeed(speedBox.value) });
    for (const value of SPEEDS) speedBox.append(h("option", { value, text: value === "auto" ? "auto" : `${value}x` }));
    speedBox.value = SPEEDS.includes(remembered("cascade-speed", "auto")) ? remembered("cascade-speed", "auto") : "auto";
    const reviewLabel = h("span", { class: "cs-place" }), slowLabel = h("span", { class: "cs-slow" }), tokenLabel = h("span", { class: "cs-place" });
    const presentButton = h("button", { type: "button", class: "cs-button cs-presenter", "aria-pressed": "false", text: "Present",
                                        title: "Large type and nothing but the stage (p); Escape leaves", onclick: () => present() });
    const transport = h("div", { class: "cs-transport", role: "group", "aria-label": "Replay" },
      h("div", { class: "cs-row" },
        tool("start", "To the start", "Home", () => jump(0)), playButton, tool("end", "To the end", "End", () => jump(Infinity)),
        scrubber, timeLabel, h("label", { class: "cs-speedlabel" }, h("span", { text: "speed " }), speedBox)),
      h("div", { class: "cs-row" },
        h("span", { class: "cs-stepper" }, tool("back", "One review back", "left arrow", () => stepReview(-1)), reviewLabel,
          tool("on", "One review on", "right arrow", () => stepReview(1))), slowLabel,
        h("span", { class: "cs-stepper cs-right" }, tool("back", "One token back", "shift and left arrow", () => stepToken(-1)), tokenLabel,
          tool("on", "One token on", "shift and right arrow", () => stepToken(1))), presentButton));
    const KEYS = [["space", "play"], ["\u2190 \u2192", "review"], ["shift \u2190 \u2192", "token"], [", .", "round in the review"], ["Home End", "start, end"],
                  ["< >", "speed"], ["1 2 3", "lane"], ["+ \u2212", "zoom"], ["h", "rejected"], ["o", "open review"], ["p", "present"], ["Esc", "leave"]];
    const keysLine = h("p", { class: "cs-keys" }, h("span", { text: "keys" }), ...KEYS.map(([key, did]) => h("span", {}, h("kbd", { text: key }), ` ${did}`)));

    // -- who computed when
    const zoomLabel = h("span", { class: "cs-zoom-label" });
    const zoomButtons = [["\u2212", "Show a longer time", () => zoom(2)], ["+", "Show a shorter time", () => zoom(0.5)], ["all", "Show all of the race", () => zoom(Infinity)]]
      .map(([text, label, act]) => h("button", { type: "button", class: "cs-button cs-zoom", "aria-label": label, title: label, text, onclick: act }));
    const cursor = h("div", { class: "cs-cursor", "aria-hidden": "true" });
    const tracks = h("div", { class: "cs-tracks" });
    const timeBox = h("section", { class: "cs-timeline", "aria-label": "Who computed when. The time per level stands in the table below." },
      tracks, h("p", { class: "cs-timehead" }, h("b", { text: "Who computed when" }),
        h("span", { text: "A line per level, the target on top; pale: prefill; thin grey line: overhead. Drag to go to a time." }),
        h("span", { class: "cs-zoomers" }, zoomLabel, ...zoomButtons)));

    // -- the review, opened
    const scoreTitle = h("b", { class: "cs-score-title" });
    const scoreTold = h("p", { class: "cs-told" });
    const roundLabel = h("span", { class: "cs-place" }), roundTold = h("span", { class: "cs-round-told" });
    const roundButtons = [
      h("button", { type: "button", class: "cs-button cs-tool", "aria-label": "One round back", title: "One round back (,)", onclick: () => stepRound(-1) }, icon("back")),
      h("button", { type: "button", class: "cs-button cs-tool", "aria-label": "One round on", title: "One round on (.)", onclick: () => stepRound(1) }, icon("on"))];
    const unfoldButton = h("button", { type: "button", class: "cs-button cs-unfold", text: "Watch it happen", onclick: unfold });
    const rounds = h("div", { class: "cs-rounds" }, unfoldButton, h("span", { class: "cs-stepper" }, roundButtons[0], roundLabel, roundButtons[1]), roundTold);
    const grid = h("div", { class: "cs-score", tabindex: "0", role: "group", "aria-label": "The review, level by level" });
    const readout = h("div", { class: "cs-readout" });
    const closeScore = h("button", { type: "button", class: "cs-button cs-close", text: "Close", title: "Back to the lanes (o)", onclick: () => openScore(false) });
    const scoreBox = h("section", { class: "cs-opened", "aria-label": "The review, opened" },
      h("div", { class: "cs-score-head" }, scoreTitle, closeScore), scoreTold, rounds, grid, readout);

    const body = h("div", { class: "cs-body" },
      h("div", { class: "cs-bar" }, legendOf, legend, choice),
      lanesBox, transport, timeBox, keysLine, notes, scoreBox,
      h("div", { class: "cs-after" }, budgetBox, plotBox));
    root.replaceChildren(empty, message, body, said, tip);
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", "Stage of the race");
    root.tabIndex = 0;
    root.addEventListener("keydown", pressed);
    delete root.dataset.present;

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
    function cycleRejected() {
      const values = REJECTED.map(([value]) => value);
      choose(values[(values.indexOf(root.dataset.rejected) + 1) % values.length]);
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
      draw();
    }

    function reset(id) {
      halt();
      race = emptyRace(); views = []; processed = 0; known = id; shownLegend = -1; following = null;
      v = Infinity; picked = null;
      Object.assign(score, { key: "", round: null, high: 0 });
      Object.assign(strips, { from: 0, to: 0, width: 0, drawnAt: 0, lanes: [] });
      root.dataset.race = id;
      state("idle");
      for (const box of [lanesBox, legend, notes, plotBox, tracks, budgetBox, grid, readout]) box.replaceChildren();
      for (const node of [said, message, legendOf, timeLabel, reviewLabel, slowLabel, tokenLabel]) put(node, "");
      closeReview();
      scoreBox.style.minHeight = "";
      enable();
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
      buildStrips();
      enable();
      choose(root.dataset.rejected);
    }

    // -- lanes
    function laneView(lane) {
      const name = lane.info.method;
      const comma = lane.info.title.indexOf(", ");
      const settings = comma < 0 ? "the target alone" : lane.info.title.slice(comma + 2);
      const speller_ = speller(race.pieces);
      const part = (className, label) => {
        const value = h("b", { text: "\u2013" });
        return [value, h("span", { class: className }, value, ` ${label}`)];
      };
      const view = { lane, speller: speller_, drawn: 0, shown: 0, on: 0, spans: [], follow: true, run: 0, loose: true };
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
      view.text = h("div", { class: "cs-text", tabindex: "0", role: "group", "aria-label": `Text of the lane ${name}. Arrow keys move from review to review, with shift from token to token.` });
      view.badge = h("p", { class: "cs-badge" });
      view.speed = h("p", { class: "cs-speed" });
      view.remarks = h("div", { class: "cs-remarks" });
      const copy = h("button", { type: "button", class: "cs-button cs-copy", text: "copy text", title: "Copy the plain text of this lane", "aria-label": `copy text of the lane ${name}` });
      copy.addEventListener("click", async () => { put(copy, (await copyText(answer(view))) ? "copied" : "not allowed"); setTimeout(() => put(copy, "copy text"), 1500); });
      const pick = h("button", { type: "button", class: "cs-name", title: "Step through this lane, and count the legend for it", onclick: () => chooseLane(view) },
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
      view.text.addEventListener("click", (event) => clicked(view, event.target));
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
          "data-mark": level.mark, "data-r": fallen.index, "data-j": j, text: plain(alone(race.pieces, id)),
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

    // Draws everything as of the time shown. Only what changes is touched.
    function draw() {
      const replayed = root.dataset.state === "replay";
      for (const view of views) {
        const { steps } = view.lane;
        let n = v === Infinity ? steps.length : Math.min(view.shown, steps.length);
        if (v !== Infinity) {
          while (n < steps.length && steps[n].until <= v) n++;
          while (n > 0 && steps[n - 1].until > v) n--;
        }
        view.shown = n;
        if (replayed) {
          for (; view.on < n; view.on++) steps[view.on].node.classList.add("cs-on");
          for (; view.on > n; view.on--) steps[view.on - 1].node.classList.remove("cs-on");
        }
        drawLane(view, n, v);
      }
      drawRatios();
      drawLegend();
      drawPlot();
      drawTransport();
      drawStrips();
      drawScore();
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

    function chooseLane(view) {
      if (!view) return;
      following = view;
      shownLegend = -1;
      picked = null;
      score.round = null;
      draw();
      announce();
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
    const plot = { width: 0, height: 0, x: 1, y: 1, lines: [], size: "" };
    const sizes = new ResizeObserver(() => {
      const size = race.open ? `${lanesBox.clientWidth} ${views[0].text.clientHeight}` : "";
      if (!size || size === plot.size) return;
      plot.size = size;
      measure();
      draw();
    });
    sizes.observe(lanesBox);

    // Forgets every size: the stage has become wider or narrower, or its type larger.
    function measure() {
      for (const view of views) view.bottoms = view.height = null;
      plot.width = strips.width = 0;
      score.key = "";
      score.high = 0;
      scoreBox.style.minHeight = "";
    }

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
        return { group, path, dot, label, view, points: [], drawn: -1 };
      });
      plot.svg = s("svg", { role: "img", "aria-label": "Tokens written over each lane's own clock" }, plot.grid, ...plot.lines.map((line) => line.group));
      plotBox.replaceChildren(
        h("figcaption", { class: "cs-caption" }, h("span", {}, h("b", { text: "Tokens over the lane's clock" }),
          views.length > 1 ? ` \u2013 ${["", "", "two", "three", "four"][views.length] || views.length} lanes share one device; each has its own clock` : "")),
        plot.svg);
    }

    const PAD = { left: 46, right: 24, top: 12, bottom: 42 };
    function drawPlot() {
      if (!plot.svg || root.dataset.present !== undefined) return;
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
        for (const line of plot.lines) { line.points = []; line.drawn = -1; }
        drawGrid();
      }
      if (!plot.lines.some((line) => line.drawn !== line.view.shown)) return;
      const px = (time) => PAD.left + (time / plot.x) * (plot.width - PAD.left - PAD.right);
      const py = (count) => plot.height - PAD.bottom - (count / plot.y) * (plot.height - PAD.top - PAD.bottom);
      const ends = [];
      for (const line of plot.lines) {
        const { lane, shown } = line.view, { points } = line;
        if (!points.length) points.push(`M${px(lane.steps.length ? lane.steps[0].line.c : 0).toFixed(1)} ${py(0).toFixed(1)}`);
        for (let i = points.length - 1; i < lane.steps.length; i++) points.push(`L${px(lane.steps[i].until).toFixed(1)} ${py(lane.steps[i].count).toFixed(1)}`);
        const step = lane.steps[shown - 1];
        if (line.drawn !== shown) {
          line.group.style.display = step ? "" : "none";
          line.path.setAttribute("d", points.slice(0, shown + 1).join(""));
        }
        line.drawn = shown;
        if (step) ends.push({ line, x: px(step.until), y: py(step.count), text: `${lane.info.method} ${rate(line.view.now ? line.view.now.speed : 0)} tok/s` });
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
        const wide = end.text.length * 7.6 + 6, away = end.y > plot.height / 2 ? -19 : 19;
        let best = null;
        for (let down = 0; down < 5 && !best; down++) {
          for (const side of [1, -1]) {
            const from = side > 0 ? end.x + 12 : end.x - 12 - wide, top = end.y - 9 + away * down;
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
      buildBudget();
      settle();
      if (race.close.play && quick && !calm()) return play();
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

    const able = () => Boolean(race.close && total());
    const playing = () => frame !== 0;
    const presenting = () => root.dataset.present !== undefined;
    const factor = () => (speedBox.value === "auto" ? Math.min(1, total() / REPLAY_SECONDS) : Number(speedBox.value));
    const times = (value) => `${Number(value.toPrecision(2))}x`;

    // Controls work once there is something to replay.
    function enable() {
      for (const node of transport.querySelectorAll("button, input, select")) node.disabled = !able() && node !== presentButton;
      put(speedBox.options[0], able() ? `auto ${times(Math.min(1, total() / REPLAY_SECONDS))}` : "auto");
    }

    function halt() {
      cancelAnimationFrame(frame);
      clearTimeout(score.timer);
      frame = 0;
      score.timer = 0;
    }

    // Shows everything; what was picked stays picked.
    function settle() {
      halt();
      v = Infinity;
      state("done");
      for (const view of views) view.follow = true;
      enable();
      draw();
    }

    function show(to) {
      if (!able()) return draw();
      halt();
      if (to >= total()) return settle();
      v = Math.max(0, to);
      state("replay");
      for (const view of views) view.follow = true;
      draw();
    }

    function play(from) {
      if (!able()) return;
      picked = score.round = null;
      show(from === undefined ? (v === Infinity ? 0 : v) : from);
      if (v === Infinity) return;
      put(said, "");
      tickedAt = 0;
      running = v;
      frame = requestAnimationFrame(tick);
      drawTransport();
    }

    function tick(now) {
      // A page in the background gets no frames; the replay waits for it.
      running += (tickedAt ? Math.min(0.1, (now - tickedAt) / 1000) : 0) * factor();
      tickedAt = now;
      if (running >= total()) return ended();
      const to = calm() ? lastReview(running) : running;
      frame = requestAnimationFrame(tick);
      if (to === v) return;
      v = to;
      draw();
    }

    // With reduced motion the replay goes from review to review of the chosen lane, then of the others.
    function lastReview(time) {
      const through = following.lane.clock <= time;
      return Math.max(0, ...views.filter((view) => through || view === following)
        .map((view) => (last(view.lane.steps.filter((step) => step.until <= time)) || { until: 0 }).until));
    }

    function ended() {
      settle();
      put(said, race.close.summary || "");
    }

    function pause() {
      if (!playing()) return;
      halt();
      draw();
      announce();
    }

    function toggle() { if (playing()) pause(); else play(); }
    function skip() { if (root.dataset.state === "replay") ended(); }

    function scrub(to) {
      picked = score.round = null;
      hurried = true;
      show(to);
      hurried = false;
    }

    function jump(to) {
      picked = score.round = null;
      show(to);
      announce();
    }

    function stepReview(by) {
      if (!able()) return;
      const { steps } = following.lane, n = following.shown + by;
      jump(n > steps.length ? Infinity : n > 0 ? steps[n - 1].until : 0);
    }

    function stepToken(by) {
      if (!able() || !following.lane.tokens.length) return;
      const { steps, tokens: all } = following.lane;
      const count = following.shown ? steps[following.shown - 1].count : 0;
      const here = picked !== null ? picked : by > 0 ? count - 1 : count;
      pick(following, here + by);
    }

    // Chooses a token and goes to the review that wrote it.
    function pick(view, place) {
      const inside = view.text.contains(document.activeElement) && document.activeElement !== view.text;
      const before = following === view ? currentStep() : null;
      if (following !== view) shownLegend = -1;
      following = view;
      picked = Math.max(0, Math.min(view.lane.tokens.length - 1, place));
      const token = view.lane.tokens[picked];
      if (token.step !== before) score.round = null;
      show(token.step.until);
      if (inside) view.spans[picked].focus({ preventScroll: true });
      if (token.step !== before) announce();
      else put(said, `Token ${picked + 1}: ${quoted(race.pieces, token.id)}, ${aboutToken(token).slice(2).map(([name, value]) => `${name} ${value}`).join("; ")}.`);
    }

    function clicked(view, node) {
      const target = node.closest(".cs-token, .cs-rejected");
      if (!target || !getSelection().isCollapsed) return;
      hideTip();
      if (target.dataset.i !== undefined) pick(view, Number(target.dataset.i));
      else {
        const fallen = view.lane.rejects[Number(target.dataset.r)];
        pick(view, Math.max(fallen.step.from, Math.min(fallen.step.count - 1, fallen.at - race.open.start)));
      }
      if (presenting()) openScore(true);
    }

    function setSpeed(value) {
      speedBox.value = value;
      remember("cascade-speed", value);
      drawTransport();
    }

    // The review that is open: that of the chosen token, else the last one shown of the chosen lane.
    function currentStep() {
      if (!following) return undefined;
      if (picked !== null) return following.lane.tokens[picked].step;
      return following.lane.steps[following.shown - 1];
    }

    // One sentence per review for screen readers, while nothing plays.
    function announce() {
      const step = currentStep();
      if (playing() || !step) return;
      put(said, `Review ${step.number} of ${following.lane.steps.length}, ${following.lane.info.method}, measured ${seconds(step.line.d)}. ${toldReview(race, step)}`);
    }

    function drawTransport() {
      if (!following) return;
      const { lane, shown: n } = following, step = currentStep();
      const name = playing() ? "Pause" : root.dataset.state === "replay" ? "Play" : "Replay";
      if (playName.textContent !== name) {
        put(playName, name);
        playIcon.setAttribute("d", ICONS[playing() ? "pause" : "play"]);
      }
      if (able()) {
        const all = total(), now = v === Infinity ? all : v;
        put(timeLabel, all < 1 ? `${(now * 1000).toFixed(0)} of ${(all * 1000).toFixed(0)} ms` : `${now.toFixed(2)} of ${all.toFixed(2)} s`);
        const value = String(Math.round((now / all) * 10000));
        if (scrubber.value !== value) scrubber.value = value;
        if (!playing()) scrubber.setAttribute("aria-valuetext", timeLabel.textContent);
      }
      const number = step ? step.number : n;
      put(reviewLabel, `review ${number} of ${lane.steps.length}`);
      put(slowLabel, !step ? "" : `in ${lane.info.method}: ${playing() ? `${times(factor())}, ` : ""}measured ${seconds(step.line.d)}`);
      put(tokenLabel, `token ${picked !== null ? picked + 1 : step ? step.count : 0} of ${lane.tokens.length}`);
      const still = playing() || root.dataset.state === "live" ? null : step;
      mark("now", still ? still.node : null);
      mark("picked", picked === null ? null : following.spans[picked]);
    }

    // At most one node of the stage carries the class cs-<name>.
    const marked = {};
    function mark(name, node) {
      if (marked[name] === node) return;
      if (marked[name]) marked[name].classList.remove(`cs-${name}`);
      if (node) node.classList.add(`cs-${name}`);
      marked[name] = node;
    }

    // -- who computed when: a strip per lane, a line of it per level, all on one time axis
    const strips = { from: 0, to: 0, end: 0, width: 0, left: 0, drawnAt: 0, lanes: [] };
    const LINE = 11, IDLE = 4;
    const rowsOf = (lane) => marksOf(race).reverse().filter((entry) => lane.used.has(entry.mark) || lane.early.has(entry.mark));

    function buildStrips() {
      strips.lanes = views.map((view) => {
        const svg = s("svg", { class: "cs-strip", "aria-hidden": "true" });
        const marks = h("span", { class: "cs-strip-marks", "aria-hidden": "true" });
        const label = h("div", { class: "cs-strip-label" }, h("span", { text: view.lane.info.method }), marks);
        svg.addEventListener("pointermove", (event) => pointedAt(view, event));
        svg.addEventListener("pointerleave", hideTip);
        return { view, svg, marks, label };
      });
      strips.axis = s("svg", { class: "cs-axis", "aria-hidden": "true" });
      tracks.replaceChildren(...strips.lanes.flatMap((strip) => [strip.label, strip.svg]),
        h("span", { class: "cs-strip-label" }), strips.axis, cursor);
    }

    tracks.addEventListener("pointerdown", (event) => {
      if (!able() || event.button || timeAt(event) < strips.from) return;
      tracks.setPointerCapture(event.pointerId);
      root.focus({ preventScroll: true });
      event.preventDefault();
      scrub(timeAt(event));
    });
    tracks.addEventListener("pointermove", (event) => { if (tracks.hasPointerCapture(event.pointerId)) scrub(timeAt(event)); });
    tracks.addEventListener("pointerup", () => { draw(); announce(); });
    // The wheel zooms once the stage has the focus, or with Ctrl; before that the page scrolls as everywhere.
    tracks.addEventListener("wheel", (event) => {
      if (!able() || !(event.ctrlKey || event.metaKey || root.contains(document.activeElement))) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) pan((event.deltaX || event.deltaY) / strips.width);
      else zoom(1.0015 ** event.deltaY, timeAt(event));
    }, { passive: false });

    const timeAt = (event) => strips.from + ((event.clientX - tracks.getBoundingClientRect().left - strips.left) / strips.width) * (strips.until - strips.from);

    function zoom(by, centre) {
      if (!able()) return;
      const now = v === Infinity ? total() : v;
      const wide = strips.until - strips.from, next = Math.max(total() / 500, wide * by);
      const at = centre === undefined ? (now >= strips.from && now <= strips.until ? now : (strips.from + strips.until) / 2) : centre;
      if (!(next < total())) Object.assign(strips, { from: 0, to: 0 });
      else {
        strips.from = Math.max(0, Math.min(total() - next, at - ((at - strips.from) / wide) * next));
        strips.to = strips.from + next;
      }
      drawStrips(true);
    }

    function pan(by) {
      if (!strips.to) return;
      const wide = strips.to - strips.from;
      strips.from = Math.max(0, Math.min(total() - wide, strips.from + by * wide));
      strips.to = strips.from + wide;
      drawStrips(true);
    }

    function drawStrips(moved) {
      if (!strips.lanes.length) return;
      const live = root.dataset.state === "live", now = v === Infinity ? total() : v;
      if (live && strips.width && performance.now() - strips.drawnAt < 500) return;
      if (strips.to && !moved && (now < strips.from || now > strips.to)) { // the window follows the cursor
        const wide = strips.to - strips.from;
        strips.from = Math.max(0, Math.min(total() - wide, now - 0.1 * wide));
        strips.to = strips.from + wide;
      }
      const end = race.close ? Math.max(total(), 1e-3) : nice(Math.max(total(), 1e-3));
      const key = `${strips.from} ${strips.to} ${end} ${live ? views.map((view) => view.lane.steps.length) : ""}`;
      if (!strips.width || key !== strips.key) {
        if (!strips.width) {
          strips.width = strips.lanes[0].svg.clientWidth || 600;
          strips.left = strips.lanes[0].svg.getBoundingClientRect().left - tracks.getBoundingClientRect().left;
        }
        strips.key = key;
        strips.until = strips.to || end;
        strips.drawnAt = performance.now();
        for (const strip of strips.lanes) paint(strip);
        paintAxis();
        put(zoomLabel, strips.to ? `${seconds(strips.from)} to ${seconds(strips.until)}` : "");
      }
      const x = ((now - strips.from) / (strips.until - strips.from)) * strips.width;
      cursor.style.visibility = live || x < -1 || x > strips.width + 1 ? "hidden" : "visible";
      cursor.style.transform = `translateX(${(strips.left + x).toFixed(1)}px)`;
    }

    function paint({ view, svg, marks }) {
      const rows = rowsOf(view.lane), scale = strips.width / (strips.until - strips.from);
      const path = (spans, y, high) => {
        const parts = [];
        for (let i = 0; i < spans.length; i += 2) {
          if (spans[i + 1] < strips.from || spans[i] > strips.until) continue;
          const from = Math.max(-2, (spans[i] - strips.from) * scale), to = Math.min(strips.width + 2, (spans[i + 1] - strips.from) * scale);
          const wide = Math.max(0.6, to - from).toFixed(2);
          parts.push(`M${from.toFixed(2)} ${y}h${wide}v${high}h-${wide}z`);
        }
        return parts.join("");
      };
      const high = rows.length * (LINE + 1) + IDLE;
      svg.setAttribute("viewBox", `0 0 ${strips.width} ${high}`);
      svg.style.height = `${high}px`;
      svg.replaceChildren(...rows.flatMap(({ mark: sign, look }, i) => [
        s("path", { class: "cs-early", "data-look": look, "data-level": sign, d: path(view.lane.early.get(sign) || [], i * (LINE + 1), LINE) }),
        s("path", { "data-look": look, "data-level": sign, d: path(view.lane.spans.get(sign) || [], i * (LINE + 1), LINE) })]),
        s("path", { class: "cs-idle", d: path(view.lane.spans.get(OVERHEAD) || [], rows.length * (LINE + 1), IDLE) }));
      const signs = rows.map((row) => row.mark).join("");
      if (marks.dataset.signs !== signs) {
        marks.dataset.signs = signs;
        marks.replaceChildren(...rows.map((row) => h("i", { text: row.mark })));
      }
    }

    function paintAxis() {
      const { axis, width, from, until } = strips, wide = until - from, step = nice(wide / 8), inMs = until < 1;
      const digits = Math.max(0, Math.ceil(-Math.log10(step * (inMs ? 1000 : 1)) - 1e-9) + (/25/.test(step.toPrecision(2)) ? 1 : 0));
      axis.setAttribute("viewBox", `0 0 ${width} 18`);
      const parts = [];
      for (let i = Math.ceil(from / step - 1e-9); i * step <= until + 1e-9; i++) {
        const x = ((i * step - from) / wide) * width;
        const unit = i * step + step > until ? (inMs ? " ms" : " s") : "";
        parts.push(s("path", { d: `M${x} 0v4` }), s("text", { x, y: 16, "text-anchor": x < 12 ? "start" : x > width - 30 ? "end" : "middle",
                                                              text: (i * step * (inMs ? 1000 : 1)).toFixed(digits) + unit }));
      }
      axis.replaceChildren(...parts);
    }

    // What a lane did at the time under the pointer.
    function pointedAt(view, event) {
      if (event.buttons || !strips.width) return hideTip();
      const t = timeAt(event), near = (1.5 * (strips.until - strips.from)) / strips.width;
      const away = (part) => Math.max(0, part.c - t, t - part.c - part.d);
      const early = view.lane.prefill.find((part) => away(part) === 0);
      const step = view.lane.steps.find((one) => one.until + near >= t);
      let rows = null;
      if (early) rows = [["prefill", `${shown(early.by)} reads ${tokens(early.n)} of the prompt`], ["took", seconds(early.d)]];
      else if (step && step.line.c - near <= t) {
        const { record } = recordsOf(step.line.r).reduce((best, one) => (away(one.record) < away(best.record) ? one : best));
        rows = away(record) <= near ? [["review", `${step.number} of ${view.lane.steps.length}`], ["here", told(race, record)], ["took", seconds(record.d)]]
          : [["review", `${step.number} of ${view.lane.steps.length}`], ["here", "overhead: no model runs"]];
      }
      if (!rows) return hideTip();
      showTip(rows, { left: event.clientX + 12, top: event.clientY - 8, bottom: event.clientY + 12 });
    }

    // -- the review, opened: a score with a row for each level
    const score = { key: "", step: null, lane: null, round: null, high: 0, drawnAt: 0, timer: 0, seen: true, boxes: [] };
    if (typeof IntersectionObserver !== "undefined") {
      new IntersectionObserver((entries) => { score.seen = last(entries).isIntersecting; }, { rootMargin: "100px" }).observe(scoreBox);
    }

    function drawScore() {
      const live = root.dataset.state === "live";
      if (!following || (live && picked === null) || (presenting() && root.dataset.opened === undefined)) return;
      const step = currentStep();
      const key = `${following.lane.index} ${step ? step.number : 0} ${picked} ${score.round}`;
      if (key === score.key) return;
      if (playing() || hurried || live) {
        const now = performance.now();
        if (!score.seen || now - score.drawnAt < 350) return;
        score.drawnAt = now;
      }
      score.key = key;
      scoreBox.dataset.empty = String(!step);
      if (!step) return closeReview();
      if (score.step !== step) buildScore(step);
      drawRound();
      drawReadout(step);
      const high = scoreBox.offsetHeight; // the panel grows and does not shrink, so that nothing below it jumps
      if (high > score.high) {
        score.high = high;
        scoreBox.style.minHeight = `${high}px`;
      }
    }

    function closeReview() {
      score.step = null;
      scoreBox.dataset.empty = "true";
      put(scoreTitle, "The review, opened");
      put(scoreTold, "Step on, or click a token: the review that wrote it opens here, level by level.");
    }

    function buildScore(step) {
      const { lane } = following, { root: top, from, to, boxes, lines } = scoreOf(race, step);
      if (lane !== score.lane) {
        score.high = 0;
        scoreBox.style.minHeight = "";
      }
      Object.assign(score, { step, lane, boxes, from });
      put(scoreTitle, `Review ${step.number} of ${lane.steps.length} in ${lane.info.method}: ${tokens(step.line.x.length)} in ${seconds(step.line.d)}`);
      put(scoreTold, toldReview(race, step));
      rounds.hidden = boxes.length < 2;
      const costs = new Map();
      for (const { record, mark: sign } of boxes) {
        const before = costs.get(sign) || { seconds: 0, runs: 0 };
        costs.set(sign, { seconds: before.seconds + record.d, runs: before.runs + (record.s ? 0 : 1) });
      }
      const nodes = [], place = new Map(), groups = groupsOf(top).filter((group) => group.to > group.from);
      const at = (row, high, column, wide) => `grid-row:${row} / span ${high};grid-column:${column} / span ${wide}`;
      for (let i = from; i < to; i++) nodes.push(h("span", { class: "cs-score-at", style: at(1, 1, i - from + 2, 1), text: String(i - from + 1) }));
      nodes.push(h("span", { class: "cs-score-name cs-score-head-name", style: at(1, 1, 1, 1), text: "place in the block" }));
      let row = 2;
      for (const { mark: sign, look, names } of rowsOf(lane)) {
        const high = lines.get(sign) || 1, cost = costs.get(sign);
        place.set(sign, row);
        nodes.push(h("div", { class: "cs-score-name", style: at(row, high, 1, 1), "data-level": sign },
          h("span", { class: "cs-swatch", "data-look": look, text: sign }), h("span", { class: "cs-score-who", text: names.join(" / ") }),
          h("span", { class: "cs-score-cost", text: cost ? `${cost.runs} run${cost.runs === 1 ? "" : "s"}, ${seconds(cost.seconds)}` : "not needed" })));
        row += high;
        if (sign === "T" && groups.length) {
          nodes.push(h("span", { class: "cs-score-name cs-score-head-name", style: at(row, 1, 1, 1), text: `its block, ${tokens(top.x ? top.x.length : 0)}` }));
          for (const group of groups) {
            nodes.push(h("span", { class: "cs-zone", "data-look": levelOf(race, group.by).look, style: at(row, 1, group.from - from + 2, group.to - group.from),
                                   title: `${group.by} drafted ${tokens(group.to - group.from)} of the block` },
              h("span", { text: `${group.to - group.from > 2 ? group.by : levelOf(race, group.by).mark}: ${group.to - group.from}` })));
          }
          row += 1;
        }
      }
      const spent = sum(boxes, (box) => box.record.d);
      nodes.push(h("div", { class: "cs-score-name cs-score-rest", style: at(row, 1, 1, 1) }, h("span", { class: "cs-swatch" }), h("span", { class: "cs-score-who", text: "overhead" }),
        h("span", { class: "cs-score-cost", text: seconds(Math.max(0, step.line.d - spent)) })));
      for (const box of boxes) {
        if (!box.cells.length) continue;
        const line = place.get(box.mark) + box.line;
        box.node = h("div", { class: "cs-box", "data-look": levelOf(race, box.record.by).look, "data-order": box.order, style: at(line, 1, box.from - from + 2, box.to - box.from) },
          boxes.length > 1 ? h("span", { class: "cs-order", text: String(box.order + 1) }) : null);
        nodes.push(box.node);
        box.nodes = box.cells.map((cell, j) => {
          const level = levelOf(race, cell.who);
          return h("span", { class: "cs-cell", "data-look": level.look, "data-mark": cell.own === "bonus" && box.mark === "T" ? "+" : level.mark, "data-own": cell.own || null,
                             "data-at": cell.at, "data-order": box.order, "data-j": j, style: at(line, 1, cell.at - from + 2, 1) },
            h("bdi", { text: word(race.pieces, cell.id) }));
        });
        nodes.push(...box.nodes);
        const above = box.parent ? place.get(levelOf(race, box.parent.by).mark) : 0;
        if (above) {
          box.rises = box.cells.map((cell) => h("i", { class: "cs-rise", "aria-hidden": "true", style: at(above + 1, line - above, cell.at - from + 2, 1) }));
          nodes.push(...box.rises);
        }
      }
      grid.replaceChildren(...nodes);
      grid.scrollLeft = 0;
    }

    // Shows the rounds up to the chosen one: what was not judged by then is still open.
    function drawRound() {
      const { boxes, round } = score, column = picked === null ? null : String(race.open.start + picked);
      for (const box of boxes) {
        if (!box.node) continue;
        const later = round !== null && box.order > round, judged = round === null || box.judged <= round;
        const nodes = [box.node, ...box.nodes, ...(box.rises || [])];
        for (const node of nodes) node.classList.toggle("cs-later", later);
        box.node.classList.toggle("cs-round", box.order === round);
        box.cells.forEach((cell, j) => {
          box.nodes[j].dataset.fate = judged ? cell.fate : "open";
          box.nodes[j].classList.toggle("cs-column", box.nodes[j].dataset.at === column);
          if (box.rises) box.rises[j].hidden = !judged || cell.fate !== "kept";
        });
      }
      const n = boxes.length;
      put(roundLabel, round === null ? `all ${n} rounds` : `round ${round + 1} of ${n}`);
      put(roundTold, round === null ? "" : `${capital(told(race, boxes[round].record))}.`);
      put(unfoldButton, score.timer ? "Stop" : "Watch it happen");
      const node = round !== null && boxes[round].node;
      if (node) {
        const name = grid.querySelector(".cs-score-name").offsetWidth;
        if (node.offsetLeft - name < grid.scrollLeft) grid.scrollLeft = node.offsetLeft - name - 20;
        else if (node.offsetLeft + node.offsetWidth > grid.scrollLeft + grid.clientWidth) grid.scrollLeft = node.offsetLeft + node.offsetWidth - grid.clientWidth + 60;
      }
    }

    function drawReadout(step) {
      const token = following.lane.tokens[picked === null ? step.count - 1 : picked];
      readout.replaceChildren(...aboutToken(token).map(([name, value]) =>
        h("p", {}, h("span", { class: "cs-readout-name", text: name }), h("span", { text: value }))));
    }

    function stepRound(by) {
      const n = score.boxes.length;
      if (!currentStep() || n < 2) return;
      if (playing()) pause();
      clearTimeout(score.timer);
      score.timer = 0;
      const to = score.round === null ? (by > 0 ? 0 : n - 1) : score.round + by;
      score.round = to < 0 || to >= n ? null : to;
      draw();
      put(said, score.round === null ? scoreTold.textContent : `Round ${score.round + 1} of ${n}: ${roundTold.textContent}`);
    }

    // Shows the rounds of the review one after the other.
    function unfold() {
      const running = Boolean(score.timer);
      if (playing()) pause();
      clearTimeout(score.timer);
      score.timer = 0;
      const n = score.boxes.length, pace = Math.max(300, Math.min(1000, 12000 / n));
      const next = () => {
        score.timer = 0;
        if (score.round !== null && score.round + 1 >= n) { score.round = null; return draw(); }
        score.round = score.round === null ? 0 : score.round + 1;
        score.timer = setTimeout(next, pace);
        draw();
      };
      if (running || n < 2) { score.key = ""; draw(); }
      else if (calm()) stepRound(1);
      else { score.round = null; next(); }
    }

    // -- time per level
    function buildBudget() {
      const names = [...race.open.levels].reverse().map((level) => level.name).filter((name) => views.some((view) => view.lane.spent.has(name)));
      const longest = Math.max(...views.map((view) => view.lane.decode), 1e-9);
      const cell = (value, note) => h("td", { "data-seconds": value, title: note }, h("b", { text: seconds(Math.max(0, value)) }), note ? h("span", { text: ` ${note}` }) : null);
      const share = (value, lane) => (lane.decode ? `${Math.round((100 * value) / lane.decode)} %` : "");
      const line = (head, className, values) => h("tr", { class: className }, h("th", { scope: "row" }, ...head), ...values);
      const rows = names.map((name) => {
        const level = levelOf(race, name);
        return line([h("span", { class: "cs-swatch", "data-look": level.look, text: level.mark }), ` ${name}`], null, views.map(({ lane }) => {
          const spent = lane.spent.get(name);
          return spent ? cell(spent.seconds, `${share(spent.seconds, lane)}, ${spent.runs} run${spent.runs === 1 ? "" : "s"}`) : h("td", { text: "\u2013" });
        }));
      });
      const bars = views.map(({ lane }) => {
        const parts = names.filter((name) => lane.spent.has(name)).map((name) => ({ look: levelOf(race, name).look, value: lane.spent.get(name).seconds }));
        return h("td", {}, h("div", { class: "cs-mix", "aria-hidden": "true", style: `width:${((100 * lane.decode) / longest).toFixed(1)}%` },
          ...[...parts, { look: OVERHEAD, value: Math.max(0, lane.idle) }].map(({ look, value }) =>
            h("span", { class: "cs-mix-part", "data-look": look, style: `width:${((100 * value) / (lane.decode || 1)).toFixed(2)}%` }))));
      });
      budgetBox.replaceChildren(h("table", {},
        h("caption", { text: "Time per level: the rows add up to the decoding time" }),
        h("thead", {}, h("tr", {}, h("td", {}), ...views.map(({ lane }) => h("th", { scope: "col", text: lane.info.method })))),
        h("tbody", {}, h("tr", { class: "cs-budget-bars" }, h("td"), ...bars), ...rows,
          line(["overhead (the rest)"], null, views.map(({ lane }) => cell(lane.idle, share(lane.idle, lane)))),
          line(["decoding"], "cs-budget-sum", views.map(({ lane }) => cell(lane.decode, ""))),
          line(["prefill, before it"], null, views.map(({ lane }) => cell(lane.read, ""))))));
    }

    // -- presenting, and the keyboard
    function present(on = !presenting()) {
      root.toggleAttribute("data-present", on);
      document.documentElement.classList.toggle("cs-presenting", on);
      presentButton.setAttribute("aria-pressed", String(on));
      put(presentButton, on ? "Leave" : "Present");
      if (on) document.addEventListener("keydown", pressedOutside);
      else {
        document.removeEventListener("keydown", pressedOutside);
        delete root.dataset.opened;
      }
      if (on) root.focus({ preventScroll: true });
      measure();
      if (race.open) draw();
    }
    // While presenting nothing else is on the screen, so its keys work wherever the focus was left.
    function pressedOutside(event) { if (!root.contains(event.target)) pressed(event); }

    function openScore(on) {
      if (!presenting()) return scoreBox.scrollIntoView({ block: "nearest" });
      root.toggleAttribute("data-opened", on === undefined ? root.dataset.opened === undefined : on);
      measure();
      draw();
    }

    function leave() {
      if (root.dataset.opened !== undefined) openScore(false);
      else if (presenting()) present(false);
      else skip();
    }

    function faster(by) {
      const values = SPEEDS.slice(1).map(Number), now = factor();
      const next = by > 0 ? values.find((value) => value > now * 1.001) : values.reverse().find((value) => value < now * 0.999);
      if (next) setSpeed(String(next));
    }

    function pressed(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !race.open) return;
      const { target, key } = event, tag = target.tagName;
      if (tag === "TEXTAREA" || tag === "SELECT" || (tag === "INPUT" && target.type !== "range")) return;
      if (tag === "BUTTON" && (key === " " || key === "Enter")) return; // the button's own
      const act = {
        " ": toggle, ArrowLeft: () => (event.shiftKey ? stepToken : stepReview)(-1), ArrowRight: () => (event.shiftKey ? stepToken : stepReview)(1),
        Home: () => jump(0), End: () => jump(Infinity), ",": () => stepRound(-1), ".": () => stepRound(1), "<": () => faster(-1), ">": () => faster(1),
        "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), h: cycleRejected, o: () => openScore(), p: () => present(), Escape: leave,
      }[key] || (/^[1-9]$/.test(key) && views[key - 1] ? () => chooseLane(views[key - 1]) : null);
      if (!act) return;
      event.preventDefault();
      hideTip();
      act();
    }

    // -- the tooltip of a token
    function pointed(view, node) {
      const target = node.closest && node.closest(".cs-token, .cs-rejected");
      if (!target) return hideTip();
      showTip(target.dataset.i !== undefined ? aboutToken(view.lane.tokens[Number(target.dataset.i)])
        : aboutRejected(view.lane.rejects[Number(target.dataset.r)], Number(target.dataset.j)), target.getClientRects()[0] || target.getBoundingClientRect());
      target.setAttribute("aria-describedby", tip.id);
    }
    grid.addEventListener("pointerover", (event) => {
      const cell = event.target.closest(".cs-cell");
      if (cell) showTip(aboutCell(score.boxes[Number(cell.dataset.order)], Number(cell.dataset.j)), cell.getBoundingClientRect());
      else hideTip();
    });
    grid.addEventListener("pointerleave", hideTip);

    function showTip(rows, box) {
      tip.replaceChildren(...rows.map(([name, value]) => h("p", {}, h("span", { class: "cs-tip-name", text: name }), h("span", { text: value }))));
      tip.hidden = false;
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

    const FATES = { text: "in the text", kept: "kept by the level above", rejected: "rejected by the level above", unjudged: "fell with a token before it, not judged itself" };
    function aboutCell(box, j) {
      const cell = box.cells[j];
      return [
        ["token", `${visible(alone(race.pieces, cell.id))}   id ${cell.id}`],
        ["position", `${cell.at - race.open.start} of the answer, ${cell.at} with the prompt`],
        [cell.own ? "written by" : "proposed by", shown(cell.who)],
        ["handed up by", `${shown(box.record.by)}, round ${box.order + 1}`],
        ["then", FATES[cell.fate]],
        ...events(historyOf(score.step.line.r, cell.at, cell.id)),
      ];
    }

    function aboutToken(token) {
      const review = token.step.line.r, at = race.open.start + token.position;
      return [
        ["token", `${visible(alone(race.pieces, token.id))}   id ${token.id}`],
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

    return { update, play, pause, skip, seek: (to) => { scrub(to); announce(); }, step: stepReview, token: stepToken, get race() { return race; } };
  }

  return { mount };
})();
