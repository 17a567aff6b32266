// What a visitor takes along: a link to the form or the race, and figures as files.

import { writeLinked } from "./address.js";
import { byId, press, stage } from "./dom.js";
import { placeInWords } from "./fragment.js";
import { hiding } from "./query.js";
import { copyText } from "../stage/clipboard.js";

const KEPT = 60_000; // milliseconds that the browser has to save a file
const HERE = "It opens on this computer only"; // a link where LOCAL is its host
const LOCAL = /^(localhost|127\..*|\[::1\])$/;

// Copies the page's address with the form as its query, and with the place in the race on the stage where the link
// has one; `omitted` says what the link leaves out. Returns a status line.
export async function copyLink(query, omitted) {
  const [search, race] = query.split("#");
  const place = race ? stage().place() : {};
  const { step } = place;
  const kept = hiding() && `${search ? "&" : "?"}${hiding()}`;
  const fragment = race ? `#${race}${step ? `&${placeInWords(place)}` : ""}` : "";
  const link = location.origin + location.pathname + search + kept + fragment;
  let said = "Link to these settings copied. It fills in the form; Race starts the race.";
  if (race) said = `Link to ${step ? `step ${step} of ` : ""}this race copied.`;
  if (race) writeLinked(race.slice("race=".length));
  const isLocal = LOCAL.test(location.hostname);
  const note = { said: `${said} ${HERE}.`, save: isLocal && race ? () => press("replay") : null };
  let [state, isNoted] = ["", false];
  if (await copyText(link, document.body)) {
    window.dispatchEvent(new CustomEvent("cascade-linked", { detail: note }));
    isNoted = Boolean(document.querySelector(".cs-link-note:popover-open")); // beside the button on the stage
    if (isLocal && !isNoted) said += ` ${HERE}${race ? ": to send the race, <button type=\"button\" data-press=\"replay\">save it as a file</button>" : ""}.`;
  } else {
    state = "whole";
    said = `The browser does not allow access to the clipboard. The link: ${link.replaceAll("&", "&amp;")}`;
  }
  const isKept = !state && ((isNoted && !omitted) || byId("status").querySelector(".outcome")); // the note beside the button says it
  return isKept ? { __type__: "update" } : `<p data-state="${state}">${said} ${omitted}</p>`; // Gradio's word for no change
}

// A replay that is saved at a step of its race opens at that step. Gradio downloads a file by clicking a link that it makes.
export function watchReplay() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[download]");
    const place = stage().place();
    if (!place.step || !link || !link.href.endsWith(`race-${place.race}.html`)) return;
    event.preventDefault();
    saveAt(link, placeInWords(place).replaceAll("&", "&amp;"));
  }, true);
}

// A file that cannot be read here is left to the browser, which tells why.
async function saveAt({ href, download }, place) {
  const answer = await fetch(href).catch(() => null);
  const link = Object.assign(document.createElement("a"), { href: `${href}#`, download });
  if (answer && answer.ok) {
    const page = (await answer.text()).replace('data-place=""', `data-place="${place}"`);
    link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
    setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
  }
  link.click();
}

// Downloads the visible figures as "png" or "svg".
export async function downloadFigures(format) {
  for (const plot of document.querySelectorAll(".js-plotly-plot")) {
    if (!plot.offsetParent) continue;
    const filename = (plot.layout.title?.text || "figure").replace(/<[^>]*>/g, " ").toLowerCase()
      .replace(/[^a-z0-9]+/g, "-").slice(0, 60);
    const size = { width: plot.offsetWidth, height: plot.offsetHeight, scale: 2 };
    await window.Plotly.downloadImage(plot, { format, filename, ...size });
  }
}
