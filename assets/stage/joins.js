// What neighbouring tokens of a lane's text have in common, so that they are drawn as one: a writer, or an end of line.

// Neighbours of one draft stand on one line of its colour, which begins behind an indentation.
export function joinTokens(before, node) {
  if (!before || before.dataset.look !== node.dataset.look || node.dataset.look === "T" || /\n\s*$/.test(before.textContent)) return;
  node.classList.add("cs-continues");
}

// Of several line breaks in a row only the last one takes a line; the others are signs before it.
export function joinBreaks(view, node, text) {
  const breaks = [...node.querySelectorAll(".cs-newline")];
  if (view.lineEnd && text.startsWith("\n")) breaks.unshift(view.lineEnd);
  for (const [i, one] of breaks.entries()) {
    const next = breaks[i + 1];
    const isJoined = next && (one === view.lineEnd || one.nextSibling === next.previousSibling);
    one.classList.toggle("cs-joined", Boolean(isJoined));
  }
  view.lineEnd = text.endsWith("\n") ? breaks[breaks.length - 1] : text ? null : view.lineEnd;
}
