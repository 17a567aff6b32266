// Starts an exported page: the stage with the log that the page contains.
const stage = CascadeStage.mount(document.querySelector(".cascade-stage"));
stage.update({ race: "export", log: document.getElementById("log").textContent });
CascadeStage.explain(document.body);
// An address may name a place in the race, #lane=4&step=3, with &word=9 a token of that step, and with &inside=0 without opening
// its review. So may a file that was saved at a step.
const place = new URLSearchParams(location.hash.slice(1) || document.body.dataset.place);
const [lane, step, word] = ["lane", "step", "word"].map((name) => Number(place.get(name)));
stage.goTo(lane, step, { word, inside: place.get("inside") !== "0" });
