// A page that is loaded again in the same tab has the visitor's races, and the latest of them on its stage: the server knows
// them by the session of the page before.

const KEPT = "cascade-visitor"; // in sessionStorage, which belongs to the tab: the session that has races

let visitor = ""; // the session of this page

export const visitorBefore = () => sessionStorage.getItem(KEPT) || "";

// Whether the visitor raced before this page was loaded.
export const hasRaced = () => Boolean(visitorBefore());

export function noteVisitor(session) {
  visitor = session;
  if (hasRaced()) keepVisitor();
}

// Called when a race begins.
export function keepVisitor() {
  if (visitor) sessionStorage.setItem(KEPT, visitor);
}
