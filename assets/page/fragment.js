// The fragment of the page's address: #theory and #compare are tabs, #race=ID is a recorded race or one that was linked,
// #race=ID&lane=4&step=3 a step of it.

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

export function writeAddress(fragment) {
  if (addressed() !== fragment) history.pushState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
}
