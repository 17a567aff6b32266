// The settings of the form in words, also before the form is there: see earlyform.js.

export function settingsInWords(family, lanes, tokens, temperature) {
  const cascades = lanes.filter((name) => name.endsWith("cascade"));
  const shown = cascades.length > 1 ? `${cascades.length} cascades` : cascades[0] ?? lanes.at(-1) ?? "";
  const heat = temperature > 0 ? `temperature ${temperature}` : ""; // near the start, as the end may be cut off
  const words = [family, heat, shown, `${tokens > 0 ? tokens : "?"} tokens`]; // until it is a number of tokens
  return words.filter(Boolean).join(" \u00B7 ");
}
