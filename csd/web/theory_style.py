"""The style sheet of the figures and of the Theory and Compare tabs."""

from __future__ import annotations

from csd import theme
from csd.own_files import own_text
from csd.paths import ASSETS

FILES = ("theory.css", "theory/chart.css", "theory/step.css", "compare.css", "compare/chart.css")

THEORY_CSS = (
    "".join(own_text(ASSETS / name) for name in FILES)
    + theme.figure_css(".dark .js-plotly-plot")
    + theme.css_variables(".staircase")
    + theme.css_variables(".step-picture")
    + theme.method_css("#what-if-figure ")
)
