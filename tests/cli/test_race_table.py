"""The table below a race, and its verdicts in words."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from cli_traces import make_trace
from rich.console import Console

from csd.cli.race_table import show_results, verdict_words
from csd.record.race import Race


@pytest.mark.parametrize(
    ("tokens", "margin", "words", "differs"),
    [
        ((7, 8, 9), 0.5, "identical", False),
        ((7, 8, 1), 0.5, "differs at 2 (margin 5.0e-01)", True),
        ((7, 8, 1), 1.1e-4, "differs at 2 (margin 1.1e-04)", True),
        ((7, 8, 1), 1e-4, "differs at 2 (margin 1.0e-04, near-tie)", False),
        ((7, 8, 1), None, "differs at 2 (margin unknown)", True),
    ],
)
def test_verdicts_in_words(tokens, margin, words, differs):
    race = Race((make_trace("autoregressive", (7, 8, 9), margin), make_trace("cascade", tokens, margin)))
    first, second = race.verdicts
    assert verdict_words(first) == "reference" and not first.is_fault
    assert verdict_words(second) == words and second.is_fault is differs


def table_of(*traces) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    show_results(Race(traces), console)
    return console.export_text()


def test_numbers_of_the_table():
    text = table_of(make_trace(seconds=0.2), make_trace("cascade", seconds=0.1))
    head, first, second, where = text.splitlines()
    assert "x AR  tokens per target pass (MAT)  text" in head
    assert first.split() == ["autoregressive", "4", "(short", "run)", "5.0", "5.0", "1.00", "1.00", "reference", "0%"]
    assert second.split() == ["cascade", "4", "(short", "run)", "10.0", "10.0", "2.00", "1.00", "identical", "0%"]
    assert where == "toy on cpu, float32; the lanes share the device, and each is timed on its own clock."


def test_without_a_reference_there_is_no_ratio():
    text = table_of(make_trace("cascade"))
    assert "not compared" in text and "1.00" in text and text.count("1.00") == 1


def test_a_repetitive_text_is_pointed_out():
    assert "A text repeats itself" in table_of(make_trace(tokens=(1, 2) * 20))


def test_a_stopped_lane_without_tokens_has_a_row():
    assert "not compared" in table_of(make_trace(), replace(make_trace("cascade"), steps=(), end="stopped"))
