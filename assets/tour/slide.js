// An act as a slide, while the stage is presented: buttons that come with the pointer, an empty screen, and a list of the keys.

const SEEN = 3000; // milliseconds that the buttons of a slide are seen after the pointer has moved

export const isSlide = ({ dialog }) => dialog.hasAttribute("data-slide");

export function makeSlide({ dialog }) {
  dialog.toggleAttribute("data-slide", document.documentElement.classList.contains("cs-presenting"));
}

// The buttons come with a pointer that moves, and go with a key.
export function point(visit) {
  clearTimeout(visit.resting);
  visit.dialog.toggleAttribute("data-pointer", true);
  visit.resting = setTimeout(rested, SEEN, visit);
}

export function rested({ dialog, resting }) {
  clearTimeout(resting);
  dialog.removeAttribute("data-pointer");
}

export function blank({ dialog }) {
  dialog.toggleAttribute("data-blank", true);
}

// Returns whether the screen was empty.
export function unblank({ dialog }) {
  const wasBlank = dialog.hasAttribute("data-blank");
  dialog.removeAttribute("data-blank");
  return wasBlank;
}

export function toggleKeys({ dialog }) {
  dialog.toggleAttribute("data-keys");
}

// Returns whether they were shown.
export function closeKeys({ dialog }) {
  const wereShown = dialog.hasAttribute("data-keys");
  dialog.removeAttribute("data-keys");
  return wereShown;
}
