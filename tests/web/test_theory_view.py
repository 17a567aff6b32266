"""The theory as HTML."""

from __future__ import annotations

from dataclasses import replace

from handmade import autoregressive, cascade
from plans import made_by

from csd.decoding.methods import Cascade
from csd.record.race import Race
from csd.theory.comparison import compare_with_theory
from csd.web.theory_view import comparison_table


def test_the_table_is_escaped_and_has_headings():
    made = made_by(Cascade(("small",), ((2, 3), (0, 2))), cascade())
    lane = compare_with_theory(Race((autoregressive(), made)))[1]
    html = comparison_table((replace(lane, name="<b>x</b>"),), made.header.levels)
    assert "<b>x" not in html
    assert "&lt;b&gt;x" in html
    assert html.count('scope="col"') == 6
    assert '<th scope="row">' in html
    assert "<caption>" in html
    assert "big model ← small model: 0.75 (3/4)" in html
    assert "small model ← copier: 1.00 (2/2)" in html and "the small model is small" in html


def test_the_prediction_that_the_figure_judges_comes_first():
    """The paper's, in which every review costs one pass, stands behind it."""
    made = made_by(Cascade(("small",), ((2, 3), (0, 2))), cascade())
    lane = replace(compare_with_theory(Race((autoregressive(), made)))[1], wide=2.5, flat=3.25)
    html = comparison_table((lane,), made.header.levels)
    assert "<b>2.50×</b>, 3.25× if every review cost one pass" in html
