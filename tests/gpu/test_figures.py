"""Figures are kept line by line, and one that is there is not measured again."""

from __future__ import annotations

import pytest

from gpu.figures import Figure, Figures, describe, read_figures, seconds


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "products.jsonl"


def test_what_is_there_is_not_measured_again_and_what_failed_is(path):
    def failing() -> Figure:
        raise RuntimeError("out of memory\nand more")

    said: list[str] = []
    first = Figures(path, said.append)
    kept = first.measure("one", lambda: seconds("one", 2e-6, bytes=8))
    assert kept == first.measure("one", lambda: pytest.fail("measured twice"))
    assert first.measure("two", failing) == Figure("two", error="RuntimeError: out of memory")
    assert said == ["one: 2.00 µs", "two: failed: RuntimeError: out of memory"]
    second = Figures(path, said.append)
    assert second.measure("one", lambda: pytest.fail("measured again")) == kept
    assert second.measure("two", lambda: Figure("two", 3, "tok/s")).value == 3
    assert read_figures(path) == [kept, Figure("two", 3, "tok/s")]


def test_a_line_that_was_cut_off_is_left_out(path):
    Figures(path, lambda line: None).add(Figure("one", text="fine"))
    with path.open("a") as file:
        file.write('{"what": "two", "val')
    assert read_figures(path) == [Figure("one", text="fine")]
    assert read_figures(path.with_name("nothing")) == []


def test_an_earlier_error_can_be_withdrawn(path):
    figures = Figures(path, lambda line: None)
    figures.add(Figure("test_one", error="assert 1 == 2"))
    figures.clear("test_one")
    figures.clear("test_two")
    assert read_figures(path) == [Figure("test_one", text="passed")]


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (Figure("a", 0.1234, "ms"), "0.123 ms"),
        (Figure("a", 12.345, "ms", "compiled in 3 s"), "12.35 ms, compiled in 3 s"),
        (Figure("a", 123.45, "µs"), "123.5 µs"),
        (Figure("a", 3210.9, "GB/s"), "3,211 GB/s"),
        (Figure("a", text="2.11"), "2.11"),
        (Figure("a", 0.0, "%"), "0.000 %"),
        (seconds("a", 0.0045, "ms"), "4.50 ms"),
    ],
)
def test_in_words(figure, words):
    assert describe(figure) == words
