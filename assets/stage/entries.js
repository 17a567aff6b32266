// Entries of the browser's history for what covers the page, the presented stage and the opened review: Back closes it, and
// the page stays where it is. An entry keeps the state of the one below it, and the names of all that are open in `over`.
// The browser goes back some time after it was told to; what is closed or opened until then waits for that.

let left = Infinity; // how many of these entries are to stay
let isGoing = false; // back, which ends with popstate
let entered = []; // names of what was opened meanwhile, or lay over what was closed and stays
const gone = new Set(); // names of what was closed meanwhile

const covers = () => history.state?.over ?? [];

export function enter(name) {
  if (left < Infinity) entered.push(name);
  else if (!covers().includes(name)) push(name); // it is there after a reload
}

// What is closed otherwise takes its entry with it; of several the lowest. What lies over it and stays open gets a new one.
export function leave(name) {
  entered = entered.filter((one) => one !== name);
  const at = covers().indexOf(name);
  if (at < 0) return;
  gone.add(name);
  if (left === Infinity) queueMicrotask(goBack);
  left = Math.min(left, at);
}

// After Back: `close` is called with the names of what is still open.
export function whenBack(close) {
  addEventListener("popstate", () => {
    isGoing = false;
    goBack();
    if (!isGoing) close(covers());
  });
}

function goBack() {
  if (isGoing) return;
  if (left < covers().length) {
    isGoing = true;
    entered = [...covers().slice(left).filter((name) => !gone.has(name)), ...entered];
    history.go(left - covers().length);
    return;
  }
  left = Infinity;
  gone.clear();
  entered.forEach(push);
  entered = [];
}

function push(name) {
  try {
    history.pushState({ ...history.state, over: [...covers(), name] }, "");
  } catch {
    // a frame may not write the history
  }
}
