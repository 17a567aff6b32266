"""The style sheet of the figures and of the Theory and Compare tabs."""

from __future__ import annotations

from csd import theme
from csd.paths import ASSETS

THEORY_CSS = (
    "".join((ASSETS / name).read_text(encoding="utf-8") for name in ("theory.css", "theory/chart.css"))
    + theme.figure_css(".dark .js-plotly-plot")
    + theme.css_variables(".staircase")
    + theme.method_css("#what-if-figure ")
)
