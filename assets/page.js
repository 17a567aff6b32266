// What the page does in the browser. csd/web names these functions in its events; they get the values of the event's
// inputs and return those of its outputs.
const CascadePage = (() => {
  "use strict";

  // Whether a status line, as HTML, is in a state.
  const isIn = (status, state) => status.includes(`data-state="${state}"`);

  const press = (id) => document.getElementById(id).click();

  // Takes a race that has not started out of the queue. One that runs is stopped by the server: cancelling it would
  // lose its last events.
  function leaveQueue(status) {
    if (isIn(status, "withdrawn")) press("withdraw");
  }

  // Presses the race button itself, so that measuring a prediction is a race like any other.
  function raceIfMeasuring(status) {
    if (isIn(status, "measuring")) press("race");
  }

  function toggleAdvanced() {
    const open = document.getElementById("advanced").toggleAttribute("data-open");
    document.getElementById("more").setAttribute("aria-expanded", open);
  }

  // Copies the page's address with the form as its query; `omitted` says what the link leaves out. Returns a status line.
  async function copyLink(query, omitted) {
    const link = location.origin + location.pathname + query;
    let said = "Link copied. It fills in the form but does not start a race.";
    try {
      await navigator.clipboard.writeText(link);
    } catch {
      said = `The browser does not allow access to the clipboard. The link: ${link.replaceAll("&", "&amp;")}`;
    }
    return `<p>${said} ${omitted}</p>`;
  }

  // Downloads the visible figures as "png" or "svg".
  async function downloadFigures(format) {
    for (const plot of document.querySelectorAll(".js-plotly-plot")) {
      if (!plot.offsetParent) continue;
      const filename = (plot.layout.title?.text || "figure").toLowerCase().replace(/[^a-z0-9]+/g, "-");
      const size = { width: plot.offsetWidth, height: plot.offsetHeight, scale: 2 };
      await window.Plotly.downloadImage(plot, { format, filename, ...size });
    }
  }

  return { leaveQueue, raceIfMeasuring, toggleAdvanced, copyLink, downloadFigures };
})();
window.CascadePage = CascadePage;
