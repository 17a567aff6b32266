// The fragment of the page's address: #theory and #compare are tabs, #race=ID is a recorded race or one that was linked,
// #race=ID&lane=4&step=3 a step of it, with &word=9 a token of that step, and with &inside=0 among all lanes, without
// opening its review.

export const splitAddress = () => decoded(location.hash.slice(1)).split("&");
export const addressed = () => splitAddress()[0];

// An address that somebody has mangled stays as it is.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// A place in a race for an address, and back: [lane, step, {word, inside}].
export const placeInWords = ({ lane, step, word, inside }) =>
  `lane=${lane}&step=${step}${word ? `&word=${word}` : ""}${inside ? "" : "&inside=0"}`;

export function readPlace(text) {
  const given = new URLSearchParams(text);
  const [lane, step, word] = ["lane", "step", "word"].map((name) => Number(given.get(name)));
  return [lane, step, { word, inside: given.get("inside") !== "0" }];
}

export function writeAddress(fragment) {
  if (addressed() !== fragment) pushPlace(null, fragment ? `#${fragment}` : location.pathname + location.search);
}

// A new place in the history. While the stage is presented, Back leaves that first: see assets/stage/entries.js.
export function pushPlace(state, address) {
  history.pushState(state, "", address);
  if (document.documentElement.classList.contains("cs-presenting")) history.pushState({ ...state, over: ["present"] }, "");
}
