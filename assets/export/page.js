// Starts an exported page: the stage with the log that the page contains.
const stage = CascadeStage.mount(document.querySelector(".cascade-stage"));
stage.update({ race: "export", log: document.getElementById("log").textContent });
