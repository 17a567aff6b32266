// Starts an exported page: the button for the dark ground, and the stage with the log that the page contains.
const ground = document.getElementById("ground");
function darken(on) {
  document.documentElement.classList.toggle("dark", on);
  ground.textContent = on ? "Light" : "Dark";
}
darken(matchMedia("(prefers-color-scheme: dark)").matches);
ground.addEventListener("click", () => darken(!document.documentElement.classList.contains("dark")));
const stage = CascadeStage.mount(document.querySelector(".cascade-stage"));
stage.update({ race: "export", log: document.getElementById("log").textContent });
