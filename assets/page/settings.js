// The text of the button that opens the drawer, such as "embedded · adaptive cascade · 64 tokens".

export function settingsInWords(family, lanes, tokens, temperature) {
  const cascades = lanes.filter((name) => name.endsWith("cascade"));
  const words = [family, (cascades.length ? cascades : lanes.slice(-1)).join(" + "), `${tokens ?? "?"} tokens`];
  if (temperature) words.push(`temperature ${temperature}`);
  return words.filter(Boolean).join(" \u00B7 ");
}
