// The button for the dark ground. The choice is remembered where the browser allows it, for the other pages of a site.
const ground = document.getElementById("ground");
function remembered(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(name, value);
    return localStorage.getItem(name);
  } catch {
    return null; // a sandboxed frame, or a browser that keeps nothing
  }
}
function darken(on) {
  document.documentElement.classList.toggle("dark", on);
  ground.textContent = on ? "Light" : "Dark";
}
const chosen = remembered("ground");
darken(chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
ground.addEventListener("click", () => {
  const on = !document.documentElement.classList.contains("dark");
  darken(on);
  remembered("ground", on ? "dark" : "light");
});
// Also what was chosen in another tab, or on the page before: a browser may write it down only after this page has read.
addEventListener("storage", ({ key, newValue }) => {
  if (key === "ground" && newValue) darken(newValue === "dark");
});
