"""Figures from a small fixed race, against numbers worked out by hand."""

import json
from dataclasses import replace

import pytest
from handmade import RACE, autoregressive, cascade

from csd.plots import race as figures
from csd.theory import figures as theory_figures
from csd.theory import prediction as theory

FIGURES = (figures.speedup, figures.acceptance_by_level, figures.acceptance_by_position, figures.time_per_level)


def test_speedup():
    figure = figures.speedup(RACE)
    decoding, whole = figure.data
    assert list(decoding.x) == ["autoregressive", "cascade"]
    assert list(decoding.y) == pytest.approx([1, 2])
    assert list(whole.y) == pytest.approx([1, 8 / (4 / 0.6)])
    assert list(decoding.text) == ["1.00x", "2.00x"]
    assert list(decoding.customdata[1]) == pytest.approx([20, 4, 0.2])


def test_acceptance_by_level_adds_up_the_statistical_ones():
    lookup, small = figures.acceptance_by_level(RACE).data
    assert (lookup.name, list(lookup.x), list(lookup.y), list(lookup.text)) == (
        "0 MaxGram / Bigram", ["cascade"], [1.0], ["2/2"],
    )  # fmt: skip
    assert (small.name, list(small.y), list(small.text)) == ("1 small", [0.5], ["1/2"])
    assert lookup.marker.pattern.shape != small.marker.pattern.shape


def test_acceptance_by_position():
    (line,) = figures.acceptance_by_position(RACE).data
    assert list(line.x) == [1, 2, 3]
    assert list(line.y) == [1.0, 1.0, 0.0]
    assert [list(row) for row in line.customdata] == [[2, 2], [1, 1], [0, 1]]


def test_time_per_level_adds_up_to_the_decoding_time():
    bars = {bar.name: list(bar.y) for bar in figures.time_per_level(RACE).data}
    assert bars["0 MaxGram / Bigram"] == pytest.approx([0, 0.005])
    assert bars["1 small"] == pytest.approx([0, 0.05])
    assert bars["T target"] == pytest.approx([0.4, 0.13])
    assert bars["overhead"] == pytest.approx([0, 0.015])
    assert [sum(column) for column in zip(*bars.values(), strict=True)] == pytest.approx([0.4, 0.2])


def test_two_lanes_of_one_method_keep_apart():
    names = list(figures.time_per_level((cascade(), cascade())).data[0].x)
    assert names == ["1: cascade", "2: cascade"]


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_are_plain_transparent_and_large(figure):
    made = json.loads(figure(RACE).to_json())
    assert "bdata" not in json.dumps(made)
    assert made["layout"]["paper_bgcolor"] == made["layout"]["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert made["layout"]["font"]["size"] >= 14
    assert made["layout"]["title"]["text"]


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize(
    "traces", ((), (replace(autoregressive(), steps=(), end="stopped"),)), ids=("none", "no token")
)
def test_nothing_to_show_is_a_sentence(figure, traces):
    made = figure(traces)
    assert not made.data
    assert made.layout.annotations[0].text.endswith(".")


def test_a_lane_without_a_reference_has_no_speedup():
    made = figures.speedup((cascade(),))
    assert not made.data and "autoregressive" in made.layout.annotations[0].text


# ---- theory


def test_prediction_stands_beside_measurement():
    made = cascade()
    lanes = theory.beside((autoregressive(), replace(made, header=replace(made.header, K=((2, 3), (0, 2))))))
    lanes = (lanes[0], replace(lanes[1], measured=(2.0, 1.6, 2.1)))
    flat, wide, measured = theory_figures.prediction(lanes).data
    assert list(flat.x) == list(measured.x) == ["autoregressive", "cascade"]
    assert list(flat.y) == pytest.approx([1, lanes[1].flat]) and list(wide.y) == pytest.approx([1, lanes[1].wide])
    assert list(measured.y) == [1, 2.0]
    assert list(measured.error_y.array) == pytest.approx([0, 0.1])
    assert list(measured.error_y.arrayminus) == pytest.approx([0, 0.4])
    assert theory_figures.prediction(lanes[:1]).layout.annotations[0].text.endswith(".")


def test_a_lane_without_a_prediction_has_no_bar_of_it():
    made = cascade()
    lanes = theory.beside((autoregressive(), replace(made, header=replace(made.header, method="adaptive"))))
    flat, _, measured = theory_figures.prediction(lanes).data
    assert list(flat.x) == ["autoregressive"] and list(measured.x) == ["autoregressive", "adaptive"]


def test_what_if_marks_where_the_knobs_stand():
    world = theory.world_of(("small",), (0.8, 0.4, 0.5), (0.1,), 0.05)
    curves = theory.what_if(("small",), "small", 4, ((3, 5), (0, 2)), world)
    lines = theory_figures.what_if(curves).data
    assert [line.name for line in lines] == [
        "speculative, if every review cost one run", "speculative", "cascade, if every review cost one run", "cascade",
    ]  # fmt: skip
    assert list(lines[1].y) == list(curves[0].wide) and list(lines[0].y) == list(curves[0].flat)
    assert [x for x, size in zip(lines[3].x, lines[3].marker.size) if size] == [3]


def test_classic_curves():
    lines = {line.name: line for line in theory_figures.speedup_over_k(0.1, (0.5, 0.9), 3).data}
    assert list(lines["α = 0.5"].x) == [0, 1, 2, 3]
    assert list(lines["α = 0.5"].y) == pytest.approx([1, 1.5 / 1.1, 1.75 / 1.2, 1.875 / 1.3])
    by_cost = {line.name: list(line.y) for line in theory_figures.speedup_over_alpha((0.1, 0.4)).data}
    assert all(
        cheap >= dear >= 1 for cheap, dear in zip(by_cost["c = 0.1"], by_cost["c = 0.4"])
    )  # k = 0 is always there
    kinds = {line.name: list(line.y) for line in theory_figures.cascades_over_alpha(0.2, 0.5).data}
    assert all(
        both >= max(vertical, horizontal) >= alone
        for both, vertical, horizontal, alone in zip(
            *(kinds[name] for name in ("both", "vertical", "horizontal", "speculative"))
        )
    )


@pytest.mark.parametrize(
    "made",
    [
        theory_figures.speedup_over_k(0.1),
        theory_figures.speedup_over_alpha(),
        theory_figures.cascades_over_alpha(0.2, 0.5),
    ],
)
def test_curves_differ_by_more_than_colour_and_carry_their_names(made):
    looks = [(line.line.dash, line.marker.symbol) for line in made.data]
    assert len(set(looks)) == len(looks)
    assert {note.text for note in made.layout.annotations} == {line.name for line in made.data}
    assert "bdata" not in made.to_json()
