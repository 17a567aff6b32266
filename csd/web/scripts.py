"""What the page does in the browser: JavaScript functions that events call with the values of their inputs."""

from __future__ import annotations

# Presses a button by its id; an empty id presses nothing.
PRESS = """(id) => { if (id) document.getElementById(id).click(); }"""

TOGGLE_ADVANCED = """() => {
    const open = document.getElementById("advanced").toggleAttribute("data-open");
    document.getElementById("more").setAttribute("aria-expanded", open);
}"""

# Returns the status line; `omitted` says what the link leaves out.
COPY_LINK = """async (query, omitted) => {
    const link = location.origin + location.pathname + query;
    let said = "Link copied. It fills in the form but does not start a race.";
    try { await navigator.clipboard.writeText(link); }
    catch { said = "The browser does not allow access to the clipboard. The link: " + link.replaceAll("&", "&amp;"); }
    return `<p>${said} ${omitted}</p>`;
}"""

_DOWNLOAD_FIGURES = """async () => {
    for (const plot of document.querySelectorAll(".js-plotly-plot")) {
        if (!plot.offsetParent) continue;
        const filename = (plot.layout.title?.text || "figure").toLowerCase().replace(/[^a-z0-9]+/g, "-");
        const size = { width: plot.offsetWidth, height: plot.offsetHeight, scale: 2 };
        await window.Plotly.downloadImage(plot, { format: "FORMAT", filename, ...size });
    }
}"""


def download_figures(image_format: str) -> str:
    """Downloads the visible figures as "png" or "svg"."""
    return _DOWNLOAD_FIGURES.replace("FORMAT", image_format)
