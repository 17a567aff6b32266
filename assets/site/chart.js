// A line chart as SVG that fills its element: every curve has its name at its end, and the pointer reads the values off.

const SVG = "http://www.w3.org/2000/svg";
const EDGE = { left: 40, right: 118, top: 12, bottom: 40 };
const APART = 17; // pixels between two names

function draw(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Returns show({title, xTitle, xs, curves: [{name, look, ys, at}]}): `look` is a method's name, `at` an index to mark.
export function startChart(root) {
  const title = document.createElement("h3");
  const svg = draw("svg", { role: "img" });
  const read = document.createElement("p");
  read.className = "chart-read";
  root.replaceChildren(title, svg, read);
  let shown = null;
  let scale = null;
  const paint = () => {
    if (shown && root.clientWidth) scale = plot(svg, root.clientWidth, shown);
  };
  const tell = (index) => {
    const { xs, xTitle, curves } = shown;
    read.textContent = `${xTitle} ${xs[index]}: ${curves.map(({ name, ys }) => `${name} ${ys[index].toFixed(2)}×`).join(", ")}`;
  };
  svg.addEventListener("pointermove", (event) => {
    if (!scale) return;
    const x = event.clientX - svg.getBoundingClientRect().left;
    const index = Math.max(0, Math.min(shown.xs.length - 1, Math.round(scale.index(x))));
    scale.cursor.setAttribute("transform", `translate(${scale.x(index)} 0)`);
    scale.cursor.removeAttribute("hidden");
    tell(index);
  });
  svg.addEventListener("pointerleave", () => scale?.cursor.setAttribute("hidden", ""));
  new ResizeObserver(paint).observe(root);
  return (chart) => {
    shown = chart;
    title.textContent = chart.title;
    svg.setAttribute("aria-label", `${chart.title}. Speed-up over ${chart.xTitle}.`);
    read.textContent = "";
    paint();
  };
}

// The numbers at which an axis has a line: round steps, at most `most` of them.
export function ticks(high, most) {
  const raw = high / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= raw * 0.999);
  return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}

// Heights for names that keep their distance: pushed down from the top, then up from the bottom.
export function spread(heights, least, most) {
  const order = heights.map((y, i) => [y, i]).sort((a, b) => a[0] - b[0]);
  let free = least;
  for (const one of order) free = (one[0] = Math.max(one[0], free)) + APART;
  let limit = most;
  for (const one of order.reverse()) limit = (one[0] = Math.min(one[0], limit)) - APART;
  return order.sort((a, b) => a[1] - b[1]).map(([y]) => y);
}

function plot(svg, width, { xs, xTitle, curves }) {
  const height = Math.max(250, Math.min(360, width * 0.55));
  const high = Math.max(1.2, ...curves.flatMap(({ ys }) => ys)) * 1.06;
  const inner = { width: width - EDGE.left - EDGE.right, height: height - EDGE.top - EDGE.bottom };
  const [first, last] = [xs[0], xs[xs.length - 1]];
  const toX = (x) => EDGE.left + ((x - first) / (last - first)) * inner.width;
  const toY = (y) => EDGE.top + inner.height * (1 - y / high);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  const right = EDGE.left + inner.width;
  const parts = [];
  for (const y of ticks(high, 5)) {
    parts.push(draw("line", { class: y === 1 ? "chart-unit" : "chart-grid", x1: EDGE.left, x2: right, y1: toY(y), y2: toY(y) }));
    parts.push(draw("text", { class: "chart-tick", x: EDGE.left - 6, y: toY(y) + 4, "text-anchor": "end" }, `${y}×`));
  }
  if (!ticks(high, 5).includes(1)) parts.push(draw("line", { class: "chart-unit", x1: EDGE.left, x2: right, y1: toY(1), y2: toY(1) }));
  const most = ((inner.width > 320 ? 6 : 4) * last) / (last - first); // of the whole axis from 0 on
  for (const x of ticks(last, most).filter((one) => one >= first)) {
    parts.push(draw("text", { class: "chart-tick", x: toX(x), y: height - EDGE.bottom + 18, "text-anchor": "middle" }, x));
  }
  parts.push(draw("text", { class: "chart-title", x: EDGE.left + inner.width / 2, y: height - 4, "text-anchor": "middle" }, xTitle));
  const cursor = draw("g", { class: "chart-cursor", hidden: "" });
  cursor.append(draw("line", { x1: 0, x2: 0, y1: EDGE.top, y2: EDGE.top + inner.height }));
  parts.push(cursor);
  const heights = spread(curves.map(({ ys }) => toY(ys[ys.length - 1])), EDGE.top + 4, EDGE.top + inner.height);
  curves.forEach(({ name, look, ys, at }, i) => {
    const line = xs.map((x, j) => `${j ? "L" : "M"}${toX(x).toFixed(1)} ${toY(ys[j]).toFixed(1)}`).join("");
    parts.push(draw("path", { class: "chart-line", "data-method": look, d: line }));
    parts.push(draw("text", { class: "chart-name", "data-method": look, x: right + 8, y: heights[i] + 4 }, name));
    if (at === undefined) return;
    const below = i > 0 && ys[at] < curves[0].ys[curves[0].at];
    parts.push(draw("circle", { class: "chart-dot", "data-method": look, cx: toX(xs[at]), cy: toY(ys[at]), r: 6 }));
    parts.push(draw("text", { class: "chart-value", x: toX(xs[at]), y: toY(ys[at]) + (below ? 24 : -12), "text-anchor": "middle" },
      `${ys[at].toFixed(2)}×`));
  });
  svg.replaceChildren(...parts);
  return { cursor, x: (index) => toX(xs[index]), index: (x) => ((x - EDGE.left) / inner.width) * (xs.length - 1) };
}
