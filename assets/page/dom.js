// The parts of the page that several modules look up.

export const byId = (id) => document.getElementById(id);
export const stageRoot = () => document.querySelector("#stage .cascade-stage");
export const stage = () => stageRoot().cascadeStage;

// Presses the button that an event names; an empty id presses nothing.
export function press(id) {
  if (id) byId(id).click();
}
