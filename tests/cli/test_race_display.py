"""The lanes of a race in a terminal and in a file, drawn from race events."""

from __future__ import annotations

import io

import pytest
from cli_traces import make_header, make_step, make_trace
from rich.console import Console

from csd.cli.race_display import show_race
from csd.cli.race_view import LaneView, RaceView, level_style
from csd.decoding.methods import Autoregressive, Speculative
from csd.request.request import Request
from csd.run import LaneAdvanced, LaneFinished, RaceStarted, run_race

METHODS = (Autoregressive(), Speculative("small", 3))


def terminal(width: int = 120, height: int = 30) -> Console:
    return Console(force_terminal=True, width=width, height=height, record=True, file=io.StringIO())


def test_live_view_in_a_terminal(toy_family):
    """On a terminal the lanes are side by side, and every level has an attribute as well as a colour."""
    console = terminal()
    traces = show_race(run_race(toy_family, Request("abcabd", METHODS, 8)), console)
    text = console.export_text(clear=False)
    assert [trace.header.method for trace in traces] == ["autoregressive", "speculative"]
    assert any("autoregressive" in line and "speculative" in line for line in text.splitlines())
    assert "proposed by  0 Max-Gram" in text and "2 small" in text and "T target" in text
    styles = [level_style(level, 3) for level in range(4)]
    assert len({entry.split()[-1] for entry in styles}) == 4


def test_lanes_are_stacked_in_a_narrow_terminal(toy_family):
    console = terminal(width=50)
    show_race(run_race(toy_family, Request("abcabd", METHODS, 8)), console)
    lines = console.export_text().splitlines()
    assert not any("autoregressive" in line and "speculative" in line for line in lines)
    assert sum("autoregressive" in line for line in lines) >= 1


def test_texts_in_a_file_are_printed_once(toy_family):
    console = Console(width=200, record=True, file=io.StringIO())
    traces = show_race(run_race(toy_family, Request("abcabd", METHODS, 8)), console)
    text = console.export_text()
    assert text.count(traces[0].answer) == 1
    assert "The same text as autoregressive." in text and "8 tokens" in text and "budget" in text


def test_a_race_that_ends_before_any_lane_moved_prints_heads():
    console = Console(width=100, record=True, file=io.StringIO())
    assert show_race([RaceStarted((make_header(),), {})], console) == ()
    assert "== autoregressive (waiting)" in console.export_text()


def test_a_race_without_events_prints_nothing():
    console = Console(width=100, record=True, file=io.StringIO())
    assert show_race([], console) == ()
    assert console.export_text() == ""


def test_a_character_of_several_tokens_and_control_characters():
    """A euro sign in three tokens is one character on the screen; an escape sequence of the model is not sent on."""
    pieces = {1: (0xE2,), 2: (0x82,), 3: (0xAC,), 4: "\x1b[31mred", 5: "\n"}
    lane = LaneView(make_header())
    lane.advance(LaneAdvanced(0, make_step((1, 2, 3, 4, 5)), pieces), pieces)
    assert lane.text.plain == "€\ufffd[31mred\n"
    assert lane.status == "5 tokens  20 tok/s  0.25 s"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_traces_come_in_lane_order(order):
    race = RaceView()
    race.add(RaceStarted((make_header(), make_header("cascade")), {0: "The"}))
    traces = [make_trace(), make_trace("cascade")]
    for lane in order:
        race.add(LaneFinished(lane, traces[lane]))
    assert race.traces == tuple(traces)
    assert all(lane.end == "budget" for lane in race.lanes)


def test_a_character_that_was_never_completed_is_marked():
    race = RaceView()
    race.add(RaceStarted((make_header(),), {}))
    race.add(LaneAdvanced(0, make_step((1,)), {1: (0xE2,)}))
    race.add(LaneFinished(0, make_trace()))
    assert race.lanes[0].text.plain == "\ufffd"
