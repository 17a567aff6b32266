// Starts an exported page: the stage with the log that the page contains.
const stage = CascadeStage.mount(document.querySelector(".cascade-stage"));
stage.update({ race: "export", log: document.getElementById("log").textContent });
CascadeStage.explain(document.body);
// An address may name a place in the race, #lane=4&step=3, and its review, #lane=4&step=3&inside=1. So may a file that was saved
// at a step.
const place = new URLSearchParams(location.hash.slice(1) || document.body.dataset.place);
stage.goTo(Number(place.get("lane")), Number(place.get("step")));
