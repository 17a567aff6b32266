"""The figure of the theory: predictions beside measurements."""

from __future__ import annotations

from dataclasses import replace

import pytest
from handmade import autoregressive, cascade
from plans import made_by

from csd.decoding.methods import AdaptiveCascade, Cascade
from csd.record.race import Race
from csd.theory import figures
from csd.theory.comparison import compare_with_theory


def test_prediction_beside_measurement():
    lanes = compare_with_theory(Race((autoregressive(), made_by(Cascade(("small",), ((2, 3), (0, 2))), cascade()))))
    lanes = (lanes[0], replace(lanes[1], measured=(2.0, 1.6, 2.1)))
    made = figures.prediction(lanes)
    alone, predicted, measured = made.data
    text = f"<b>cascade</b>  2.00×, predicted: {lanes[1].wide:.2f}×"
    assert [note.text for note in made.layout.annotations][1] == text
    assert (alone.x[0], measured.x[0], predicted.x[0]) == pytest.approx((1, 2.0, lanes[1].wide))
    assert predicted.marker.symbol.endswith("-open") and not measured.marker.symbol.endswith("-open")
    assert list(measured.error_x.array) == pytest.approx([0.1]) and measured.error_x.visible
    assert list(measured.error_x.arrayminus) == pytest.approx([0.4])
    off = f"{abs(2.0 / lanes[1].wide - 1):.0%}"
    assert made.layout.title.text.replace("<br>", " ") == f"The prediction for the cascade is off by {off}"
    assert figures.prediction(lanes[:1]).layout.annotations[0].text.endswith(".")


def test_one_race_has_no_whiskers():
    lanes = compare_with_theory(Race((autoregressive(), made_by(Cascade(("small",), ((2, 3), (0, 2))), cascade()))))
    assert not any(dot.error_x.visible for dot in figures.prediction(lanes).data)


def test_a_lane_without_a_prediction_has_no_dot_of_it():
    lanes = compare_with_theory(Race((autoregressive(), made_by(AdaptiveCascade(("small",)), cascade()))))
    made = figures.prediction((lanes[0], replace(lanes[1], flat=None, wide=None)))
    assert [dot.name for dot in made.data] == ["autoregressive", "adaptive cascade"]
    assert "no lane has a prediction" in made.layout.title.text.replace("<br>", " ")
