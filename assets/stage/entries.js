// Entries of the browser's history for what covers the page, the presented stage and the opened review: Back closes it, and
// the page stays where it is. An entry keeps the state of the one below it, and the names of all that are open in `over`.

let left = Infinity; // how many of these entries are to stay

const covers = () => history.state?.over ?? [];

export function enter(name) {
  if (covers().includes(name)) return; // after a reload
  try {
    history.pushState({ ...history.state, over: [...covers(), name] }, "");
  } catch {
    // a frame may not write the history
  }
}

// What is closed otherwise takes its entry with it; of several that are closed at once the lowest.
export function leave(name) {
  const at = covers().indexOf(name);
  if (at < 0) return;
  if (left === Infinity) queueMicrotask(goBack);
  left = Math.min(left, at);
}

function goBack() {
  history.go(left - covers().length);
  left = Infinity;
}

// After Back: `close` is called with the names of what is still open.
export function whenBack(close) {
  addEventListener("popstate", () => close(covers()));
}
