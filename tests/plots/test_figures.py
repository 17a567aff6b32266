"""Figures of a small fixed race, against numbers worked out by hand."""

import json
from dataclasses import replace

import pytest
from handmade import RACE, autoregressive, cascade

from csd import theme
from csd.plots import findings, positions
from csd.plots import race as figures
from csd.plots.positions import acceptance_by_position, wilson
from csd.record.metrics import AcceptanceCount
from csd.record.race import Race

FIGURES = (figures.speedup, figures.acceptance_by_level, acceptance_by_position, figures.time_per_level)


def title(figure) -> str:
    return figure.layout.title.text.replace("<br>", " ")


def bars(figure) -> dict[str, tuple[float, float, str, str]]:
    """Of each row below a heading: where its bar starts, its length, its colour and its label."""
    names = figure.layout.yaxis.ticktext
    return {
        f"{bar.name}: {names[y]}": (start, length, colour, text)
        for bar in figure.data
        for y, start, length, colour, text in zip(bar.y, bar.base, bar.x, bar.marker.color, bar.text, strict=True)
    }


def test_speedup():
    figure = figures.speedup(Race(RACE))
    alone, whole, decoding = figure.data
    assert (alone.x[0], decoding.x[0], whole.x[0]) == pytest.approx((1, 2, 8 / (4 / 0.6)))
    assert [note.text for note in figure.layout.annotations] == [
        "<b>autoregressive</b>  1×",
        "<b>cascade</b>  2.00×, prefill: 1.20×",
    ]
    assert "20.0 tokens/s, 4 tokens in 0.200 s" in decoding.hovertemplate
    assert title(figure) == "The cascade is 2.00 times as fast as autoregressive decoding, roughly, in 4 tokens"


def test_a_method_looks_the_same_at_every_place():
    for traces in (RACE, RACE[::-1]):
        dots = {dot.name: (dot.marker.symbol, dot.marker.color) for dot in figures.speedup(Race(traces)).data}
        methods = {trace.header.method: trace.header.method for trace in traces}
        for name, (symbol, colour) in dots.items():
            look = theme.method_look(methods[name])
            assert (symbol.removesuffix("-open"), colour) == (look.symbol, look.light)


def test_acceptance_by_level_adds_up_the_statistical_ones():
    figure = figures.acceptance_by_level(Race(RACE))
    assert title(figure) == "The big model accepts 3 of 4 tokens guessed by the cascade"
    assert bars(figure) == {
        "cascade: small model": (0, 0.5, theme.LOOKS[2].light, "1 of 2"),
        "cascade: copier": (0, 1.0, theme.LOOKS[0].light, "2 of 2"),
    }


def test_acceptance_by_position():
    line, points, blocks = acceptance_by_position(Race(RACE)).data
    assert list(points.x) == list(blocks.x) == [1, 2, 3]
    assert list(points.y) == [1.0, 1.0, 0.0]
    assert list(blocks.y) == [2, 1, 1]
    assert not line.x and set(points.marker.symbol) == {"triangle-up-open"}  # none of it is sure
    assert points.customdata[1] == "cascade, position 2: 1 of 1 (100%, 95% interval 21% to 100%)"


def test_a_line_joins_only_positions_that_rest_on_enough_blocks(monkeypatch):
    monkeypatch.setattr(positions, "SURE", 2)
    line, points, _ = acceptance_by_position(Race(RACE)).data
    assert list(line.x) == [1]
    assert list(points.marker.symbol) == ["triangle-up", "triangle-up-open", "triangle-up-open"]


def test_wilson_intervals():
    assert wilson(AcceptanceCount(10, 5)) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(AcceptanceCount(1, 1))[0] == pytest.approx(0.2065, abs=1e-4)


def test_time_per_level_adds_up_to_the_decoding_time():
    figure = figures.time_per_level(Race(RACE))
    found = bars(figure)
    lengths = {name: length for name, (_, length, _, _) in found.items()}
    assert lengths == pytest.approx(
        {
            "autoregressive, 400 ms: big model": 400,
            "cascade, 200 ms: big model": 130,
            "cascade, 200 ms: small model": 50,
            "cascade, 200 ms: copier": 5,
            "cascade, 200 ms: overhead": 15,
        }
    )
    start, length, colour, _ = found["cascade, 200 ms: overhead"]
    assert start + length == pytest.approx(200) and colour == theme.OVERHEAD.light
    assert found["cascade, 200 ms: big model"][2] == theme.TARGET.light == theme.LIGHT_INK
    assert title(figure) == "The big model works 400 ms in autoregressive decoding, 130 ms in the cascade"


def test_two_lanes_of_one_method_keep_apart():
    race = Race((autoregressive(), cascade(), cascade()))
    names = [note.text.split("</b>")[0] for note in figures.speedup(race).layout.annotations]
    assert names == ["<b>autoregressive", "<b>2: cascade", "<b>3: cascade"]
    assert findings.fastest(race).startswith("Lane 2, cascade is 2.00 times")


def test_a_lane_that_loses_is_not_praised():
    slow = replace(cascade(), steps=tuple(replace(step, seconds=0.4) for step in cascade().steps))
    assert findings.fastest(Race((autoregressive(), slow))) == (
        "Nothing is faster than autoregressive decoding here: the cascade reaches 0.50×"
    )


@pytest.mark.parametrize("figure", FIGURES)
def test_figures_are_plain_transparent_and_large(figure):
    made = json.loads(figure(Race(RACE)).to_json())
    assert "bdata" not in json.dumps(made)
    assert made["layout"]["paper_bgcolor"] == made["layout"]["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert made["layout"]["font"]["size"] >= 14
    assert made["layout"]["title"]["text"]
    assert not made["layout"]["showlegend"]


@pytest.mark.parametrize("figure", FIGURES)
def test_names_from_a_file_are_never_markup(figure):
    hostile = replace(cascade().header, method="<a href='https://example.org'>x</a>")
    assert "<a href" not in figure(Race((autoregressive(), replace(cascade(), header=hostile)))).to_json()


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
