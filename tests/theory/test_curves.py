"""The paper's curves, and that every label stands at its own curve."""

from __future__ import annotations

import itertools

import pytest

from csd.plots.labels import LINE
from csd.theory import curves

COSTS = (0.01, 0.05, 0.2, 0.5, 0.9, 1.0)


def test_classic_curves():
    lines = {line.name: line for line in curves.speedup_over_k(0.1, (0.5, 0.9), 3).data}
    assert list(lines["α = 0.5"].x) == [0, 1, 2, 3]
    assert list(lines["α = 0.5"].y) == pytest.approx([1, 1.5 / 1.1, 1.75 / 1.2, 1.875 / 1.3])
    by_cost = {line.name: list(line.y) for line in curves.speedup_over_alpha((0.1, 0.4)).data}
    for cheap, dear in zip(by_cost["c = 0.1"], by_cost["c = 0.4"], strict=True):
        assert cheap >= dear >= 1  # k = 0 is always possible
    kinds = {line.name: list(line.y) for line in curves.cascades_over_alpha(0.2, 0.5).data}
    names = ("both", "vertical", "horizontal", "speculative")
    for both, vertical, horizontal, alone in zip(*(kinds[name] for name in names), strict=True):
        assert both >= max(vertical, horizontal) >= alone


def test_titles_state_what_the_curves_show():
    assert curves.speedup_over_k(0.2).layout.title.text == "c = 0.2, α = 0.8: k = 4 is best (1.87×)"
    assert "no k pays" in curves.speedup_over_k(0.9).layout.title.text


@pytest.mark.parametrize(
    "made",
    [
        *(curves.speedup_over_k(c) for c in COSTS),
        curves.speedup_over_alpha(),
        *(curves.cascades_over_alpha(c, copies) for c in (0.02, 0.2, 1.0) for copies in (0.0, 0.95)),
    ],
)
def test_every_label_stands_at_its_own_curve(made):
    """A leader starts where the curve ends, and the labels are in the order of the curves without covering one
    another: so none can be nearer to the end of a neighbour and be taken for it."""
    top, margin = made.layout.yaxis.range[1], made.layout.margin
    scale = (made.layout.height - margin.t - margin.b) / top
    ends = {line.name: line.y[-1] for line in made.data} | {"autoregressive": 1.0}
    labels = {note.text: note for note in made.layout.annotations if note.showarrow}
    assert set(labels) == set(ends)
    for name, note in labels.items():
        assert (note.x, note.y, note.showarrow) == (made.data[0].x[-1], pytest.approx(ends[name]), True)
        assert note.y <= top
    places = {name: note.y * scale - note.ay for name, note in labels.items()}  # px above the axis
    ranked = sorted(ends, key=lambda name: (ends[name], places[name]))
    for below, above in itertools.pairwise(ranked):
        assert places[above] - places[below] >= LINE - 1e-6
    assert "bdata" not in made.to_json()


def test_the_axis_stays_while_a_slider_moves():
    tops = {curves.speedup_over_k(c).layout.yaxis.range[1] for c in (0.1, 0.12, 0.2, 0.5, 0.9)}
    assert tops <= {2, 3.5, 5}
