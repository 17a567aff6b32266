"""The style sheet of the figures and of the Theory and Compare tabs."""

from __future__ import annotations

from csd import theme
from csd.paths import ASSETS

THEORY_CSS = (
    (ASSETS / "theory.css").read_text(encoding="utf-8")
    + theme.figure_css(".dark .js-plotly-plot")
    + theme.css_variables(".staircase")
)
