"""The table of a comparison, from races worked out by hand, and what is asked of a comparison."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from handmade import RACE, autoregressive, cascade

from csd.decoding import methods
from csd.decoding.methods import Refusal
from csd.run import Request
from csd.web import compare

K, OTHER = ((2, 4), (0, 2)), ((1, 4), (0, 2))


def settings(K=K) -> Request:
    return Request("A fox", (methods.Autoregressive(), methods.Cascade(("small",), K)), 64)


def slower() -> tuple:
    """The cascade at 16 tokens a second instead of 20."""
    return autoregressive(), replace(cascade(), steps=tuple(replace(step, seconds=0.125) for step in cascade().steps))


def table(races) -> list[dict]:
    return [dict(zip(compare.COLUMNS, row, strict=True)) for row in compare.rows(races)]


def test_medians_and_extremes_of_the_repeats():
    alone, lane = table([("story", RACE), ("story", slower())])
    assert alone["text"] == "reference" and alone["speed-up"] == 1
    assert (lane["repeats"], lane["tokens per second"], lane["slowest"], lane["fastest"]) == (2, 18, 16, 20)
    assert (lane["speed-up"], lane["lowest"], lane["highest"], lane["tokens per run"]) == (1.8, 1.6, 2, 2)
    assert lane["text"] == "identical"


def test_prompts_and_lanes_keep_apart_and_in_order():
    found = table([("story", RACE), ("code", RACE), ("story", RACE)])
    assert [(row["prompt"], row["lane"], row["repeats"]) for row in found] == [
        ("story", "autoregressive", 2), ("story", "cascade", 2), ("code", "autoregressive", 1), ("code", "cascade", 1),
    ]  # fmt: skip


def test_a_stopped_lane_does_not_count():
    halted = (autoregressive(), replace(cascade(), end="stopped"))
    lane = table([("story", RACE), ("story", halted)])[1]
    assert (lane["repeats"], lane["tokens per second"]) == (1, 20)
    (_, alone) = table([("story", halted)])
    assert (alone["repeats"], alone["tokens per second"], alone["text"]) == (0, None, "stopped")


def test_another_text_is_said():
    other = cascade()
    first = replace(other.steps[0], tokens=(2, 3, 7))
    other = replace(other, steps=(first, *other.steps[1:]))
    assert table([("story", RACE), ("story", (autoregressive(), other))])[1]["text"] == "identical in 1 of 2"
    own = replace(cascade(), header=replace(cascade().header, rule="rejection"))
    assert table([("story", (autoregressive(), own))])[1]["text"] == "same distribution"
    assert table([("story", (cascade(),))])[0]["text"] == "not checked"


def test_csv_has_a_head_and_no_formulas():
    text = compare.csv_text([["=1+1", "a, b", 1, 2.5, None, None, None, None, None, None, 'say "x"']])
    head, row = csv.reader(io.StringIO(text))
    assert tuple(head) == compare.COLUMNS
    assert row[:5] == ["'=1+1", "a, b", "1", "2.5", ""] and row[-1] == 'say "x"'


def test_two_cascades_share_one_race():
    heats = compare.pair(settings(), settings(OTHER), "mine", 3)
    assert len(heats) == 3 and {heat.label for heat in heats} == {"mine"}
    assert [method.title for method in heats[0].settings.methods] == [
        "autoregressive", "cascade, K=[[2,4],[0,2]]", "cascade, K=[[1,4],[0,2]]",
    ]  # fmt: skip
    with pytest.raises(Refusal, match="same K"):
        compare.pair(settings(), settings(), "mine", 1)


def test_kinds_take_turns():
    examples = {
        kind: [{"title": "T", "prompt": f"p {kind}", "temperature": 0.5, "seed": 3}, {"prompt": "never"}]
        for kind in ("story", "code")
    }
    heats = compare.kinds(settings(), examples, 2)
    assert [heat.label for heat in heats] == ["story: T", "code: T"] * 2
    assert heats[1].settings == replace(settings(), prompt="p code", temperature=0.5, seed=3)


@pytest.mark.parametrize("repeats", [0, 6, 1.5, None, True, "2"])
def test_repeats_are_one_to_five(repeats):
    with pytest.raises(Refusal, match="whole number from 1 to 5"):
        compare.kinds(settings(), {}, repeats)


def test_labels_are_short_and_on_one_line():
    assert compare.label_of("a\nb") == "a b"
    assert compare.label_of("x" * 50) == "x" * 40 + "…"
