// Arithmetic of axes: ticks, and the part of the time axis that is shown. A view of the axis is {from, to} in seconds;
// `to` is 0 where the whole axis is shown.

const MOST_ZOOM = 500;
export const WHOLE = { from: 0, to: 0 };

// The smallest of 1, 2, 2.5, 5 and 10 times a power of ten that is not below a value.
export function roundUp(value) {
  const ten = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((m) => m * ten).find((step) => step >= value * 0.999);
}

// The decimals that multiples of a step need.
export function decimalsOf(step) {
  let digits = 0;
  while (digits < 12 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6) digits++;
  return digits;
}

// Ticks at the multiples of a step from `from` to `to`: [{value, text}]; `scale` converts to the unit of the text.
export function ticks(from, to, step, scale = 1) {
  const digits = decimalsOf(step * scale);
  const found = [];
  for (let i = Math.max(0, Math.ceil(from / step - 1e-9)); i * step <= to * 1.001; i++) {
    found.push({ value: i * step, text: (i * step * scale).toFixed(digits) });
  }
  return found;
}

// Ticks of a time axis; below a second they are in milliseconds. The last one names the unit.
export function timeTicks(from, to) {
  const unit = to < 1 ? { name: "ms", scale: 1000 } : { name: "s", scale: 1 };
  const found = ticks(from, to, roundUp((to - from) / 8), unit.scale).filter((tick) => tick.value <= to + 1e-9);
  if (found.length) found[found.length - 1].text += ` ${unit.name}`;
  return found;
}

// Makes the shown part `by` times as long around a time, which keeps its place on the screen.
export function zoomView(view, total, by, centre) {
  const to = view.to || total;
  const width = to - view.from;
  const next = Math.max(total / MOST_ZOOM, width * by);
  if (!(next < total)) return WHOLE;
  return viewAt(centre - ((centre - view.from) / width) * next, next, total);
}

// Moves the shown part by a share of its length.
export function panView(view, total, by) {
  if (!view.to) return view;
  const width = view.to - view.from;
  return viewAt(view.from + by * width, width, total);
}

// Moves the shown part so that it contains a time.
export function followView(view, total, time) {
  if (!view.to || (time >= view.from && time <= view.to)) return view;
  const width = view.to - view.from;
  return viewAt(time - 0.1 * width, width, total);
}

// An SVG path with a bar for each span (start and end, flat) that overlaps from..to, on a width in pixels.
export function spansPath(spans, { from, to, width }, y, height) {
  const scale = width / (to - from);
  const bars = [];
  for (let i = 0; i < spans.length; i += 2) {
    if (spans[i + 1] < from || spans[i] > to) continue;
    const left = Math.max(-2, (spans[i] - from) * scale);
    const right = Math.min(width + 2, (spans[i + 1] - from) * scale);
    const wide = Math.max(0.6, right - left).toFixed(2);
    bars.push(`M${left.toFixed(2)} ${y}h${wide}v${height}h-${wide}z`);
  }
  return bars.join("");
}

function viewAt(from, width, total) {
  const start = Math.max(0, Math.min(total - width, from));
  return { from: start, to: start + width };
}
