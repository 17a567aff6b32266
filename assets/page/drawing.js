// Gradio draws its parts one after another. They come into view together, so that nothing moves.

export const LONGEST_DRAWING = 15000; // milliseconds: whatever is there by then is shown

export function drawTogether() {
  document.documentElement.setAttribute("data-drawing", "");
  setTimeout(showDrawn, LONGEST_DRAWING);
}

export function showDrawn() {
  document.documentElement.removeAttribute("data-drawing");
}
