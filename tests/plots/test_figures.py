"""Figures of a small fixed race, against numbers worked out by hand."""

import json
from dataclasses import replace

import pytest
from handmade import RACE, autoregressive, cascade

from csd.plots import race as figures
from csd.record.race import Race

FIGURES = (figures.speedup, figures.acceptance_by_level, figures.acceptance_by_position, figures.time_per_level)


def test_speedup():
    figure = figures.speedup(Race(RACE))
    decoding, whole = figure.data
    assert list(decoding.x) == ["autoregressive", "cascade"]
    assert list(decoding.y) == pytest.approx([1, 2])
    assert list(whole.y) == pytest.approx([1, 8 / (4 / 0.6)])
    assert list(decoding.text) == ["1.00x", "2.00x"]
    assert list(decoding.customdata[1]) == pytest.approx([20, 4, 0.2])


def test_acceptance_by_level_adds_up_the_statistical_ones():
    lookup, small = figures.acceptance_by_level(Race(RACE)).data
    assert (lookup.name, list(lookup.x), list(lookup.y), list(lookup.text)) == (
        "0 Max-Gram / Bigram", ["cascade"], [1.0], ["2/2"],
    )  # fmt: skip
    assert (small.name, list(small.y), list(small.text)) == ("1 small", [0.5], ["1/2"])
    assert lookup.marker.pattern.shape != small.marker.pattern.shape


def test_acceptance_by_position():
    (line,) = figures.acceptance_by_position(Race(RACE)).data
    assert list(line.x) == [1, 2, 3]
    assert list(line.y) == [1.0, 1.0, 0.0]
    assert [list(row) for row in line.customdata] == [[2, 2], [1, 1], [0, 1]]


def test_time_per_level_adds_up_to_the_decoding_time():
    bars = {bar.name: list(bar.y) for bar in figures.time_per_level(Race(RACE)).data}
    assert bars["0 Max-Gram / Bigram"] == pytest.approx([0, 0.005])
    assert bars["1 small"] == pytest.approx([0, 0.05])
    assert bars["T target"] == pytest.approx([0.4, 0.13])
    assert bars["overhead"] == pytest.approx([0, 0.015])
    assert [sum(column) for column in zip(*bars.values(), strict=True)] == pytest.approx([0.4, 0.2])


def test_two_lanes_of_one_method_keep_apart():
    names = list(figures.time_per_level(Race((cascade(), cascade()))).data[0].x)
    assert names == ["1: cascade", "2: cascade"]


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_are_plain_transparent_and_large(figure):
    made = json.loads(figure(Race(RACE)).to_json())
    assert "bdata" not in json.dumps(made)
    assert made["layout"]["paper_bgcolor"] == made["layout"]["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert made["layout"]["font"]["size"] >= 14
    assert made["layout"]["title"]["text"]


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize(
    "traces", [(), (replace(autoregressive(), steps=(), end="stopped"),)], ids=("none", "no token")
)
def test_nothing_to_show_is_a_sentence(figure, traces):
    made = figure(Race(traces))
    assert not made.data
    assert made.layout.annotations[0].text.endswith(".")


def test_a_lane_without_a_reference_has_no_speedup():
    made = figures.speedup(Race((cascade(),)))
    assert not made.data and "autoregressive" in made.layout.annotations[0].text


def test_a_lane_that_took_no_time_has_a_figure():
    instant = replace(cascade(), steps=tuple(replace(step, seconds=0.0) for step in cascade().steps))
    for figure in FIGURES:
        assert figure(Race((autoregressive(), instant))).data
