"""Figures of the theory: predictions beside measurements, what-if curves, closed forms."""

from __future__ import annotations

from dataclasses import replace

import pytest
from handmade import autoregressive, cascade
from plans import made_by

from csd.decoding.methods import AdaptiveCascade, Cascade
from csd.record.race import Race
from csd.theory import figures
from csd.theory.comparison import compare_with_theory
from csd.theory.what_if import SliderValues, predict_curves


def test_prediction_beside_measurement():
    lanes = compare_with_theory(Race((autoregressive(), made_by(Cascade(("small",), ((2, 3), (0, 2))), cascade()))))
    lanes = (lanes[0], replace(lanes[1], measured=(2.0, 1.6, 2.1)))
    flat, wide, measured = figures.prediction(lanes).data
    assert list(flat.x) == list(measured.x) == ["autoregressive", "cascade"]
    assert list(flat.y) == pytest.approx([1, lanes[1].flat]) and list(wide.y) == pytest.approx([1, lanes[1].wide])
    assert list(measured.y) == [1, 2.0]
    assert list(measured.error_y.array) == pytest.approx([0, 0.1])
    assert list(measured.error_y.arrayminus) == pytest.approx([0, 0.4])
    assert figures.prediction(lanes[:1]).layout.annotations[0].text.endswith(".")


def test_a_lane_without_a_prediction_has_no_bar_of_it():
    lanes = compare_with_theory(Race((autoregressive(), made_by(AdaptiveCascade(("small",)), cascade()))))
    flat, _, measured = figures.prediction(lanes).data
    assert list(flat.x) == ["autoregressive"] and list(measured.x) == ["autoregressive", "adaptive cascade"]


def test_what_if_marks_the_current_setting():
    model = SliderValues((0.8, 0.4, 0.5), (0.1,), 0.05).to_model(("small",))
    curves = predict_curves(("small",), "small", 4, ((3, 5), (0, 2)), model)
    lines = figures.what_if(curves).data
    assert [line.name for line in lines] == [
        "speculative, if every review cost one pass",
        "speculative",
        "cascade, if every review cost one pass",
        "cascade",
    ]
    assert list(lines[1].y) == list(curves[0].wide) and list(lines[0].y) == list(curves[0].flat)
    assert [x for x, size in zip(lines[3].x, lines[3].marker.size, strict=True) if size] == [3]


def test_classic_curves():
    lines = {line.name: line for line in figures.speedup_over_k(0.1, (0.5, 0.9), 3).data}
    assert list(lines["α = 0.5"].x) == [0, 1, 2, 3]
    assert list(lines["α = 0.5"].y) == pytest.approx([1, 1.5 / 1.1, 1.75 / 1.2, 1.875 / 1.3])
    by_cost = {line.name: list(line.y) for line in figures.speedup_over_alpha((0.1, 0.4)).data}
    for cheap, dear in zip(by_cost["c = 0.1"], by_cost["c = 0.4"], strict=True):
        assert cheap >= dear >= 1  # k = 0 is always possible
    kinds = {line.name: list(line.y) for line in figures.cascades_over_alpha(0.2, 0.5).data}
    names = ("both", "vertical", "horizontal", "speculative")
    for both, vertical, horizontal, alone in zip(*(kinds[name] for name in names), strict=True):
        assert both >= max(vertical, horizontal) >= alone


@pytest.mark.parametrize(
    "made",
    [
        figures.speedup_over_k(0.1),
        figures.speedup_over_alpha(),
        figures.cascades_over_alpha(0.2, 0.5),
    ],
)
def test_curves_differ_by_more_than_colour_and_carry_their_names(made):
    looks = [(line.line.dash, line.marker.symbol) for line in made.data]
    assert len(set(looks)) == len(looks)
    assert {note.text for note in made.layout.annotations} == {line.name for line in made.data}
    assert "bdata" not in made.to_json()
