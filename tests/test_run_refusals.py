"""What `csd.run` refuses, over a toy family, and the edges of what it runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from toy import DRAFTS
from toy_races import PLAIN, ended, toy

from csd.decoding.methods import (
    Autoregressive,
    Cascade,
    Refusal,
    Speculative,
)
from csd.record.trace import Trace
from csd.run import run_race


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"prompt": ""}, "The prompt is empty"),
        ({"prompt": " \n\t "}, "The prompt is empty"),
        ({"prompt": None}, "The prompt is empty"),
        ({"prompt": 5}, "The prompt must be text, not 5"),
        ({"prompt": "a \ud83d"}, "half of a surrogate pair"),
        ({"methods": ()}, "at least one method"),
        (
            {"methods": (Autoregressive(), Speculative("draft-9", 2))},
            "no draft “draft-9”. Its drafts are: draft-3, draft-2",
        ),
        ({"methods": (Speculative("MaxGram", 2),)}, "no draft “MaxGram”"),
        ({"methods": (Cascade(DRAFTS[:2], ((1, 2), (0, 1))),)}, "3 rows of 3"),
        *[
            ({"temperature": value}, "Temperature (must be 0|is empty)")
            for value in (
                -0.1,
                10.1,
                None,
                True,
                False,
                "1",
                float("nan"),
                float("inf"),
                -float("inf"),
                1e-9,
                1e-320,
                [1],
            )
        ],
        *[
            ({"top_p": value}, "Top-p (must be|is empty)")
            for value in (0, -1, 1.01, None, True, "0.9", float("nan"), float("inf"))
        ],
        *[
            ({"top_k": value}, "Top-k (must be|is empty)")
            for value in (-1, None, True, 2.0, "4", float("nan"), float("inf"), 2**31)
        ],
        *[
            ({"seed": value}, "The seed (must be|is empty)")
            for value in (-1, None, True, 0.5, "7", float("nan"), 2**53, 10**400)
        ],
        *[
            ({"max_new": value}, "New tokens (must be|is empty)")
            for value in (0, -5, None, True, 3.0, "8", float("inf"), 10**9)
        ],
        *[
            ({"rule": value}, "The acceptance rule must be one of coupled, rejection")
            for value in ("", "greedy", None, 3)
        ],
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(change, words):
    world = toy()
    with pytest.raises(Refusal, match=words) as refusal:
        next(run_race(world, replace(PLAIN, **change)))
    assert str(refusal.value).endswith(".") and world.opened == []


def test_an_over_long_prompt_is_refused_with_its_length_and_the_limit():
    world = toy(context=50)
    for length, words in (
        (
            21,
            "^This model reads at most 50 tokens; the prompt has 21: at most 29 new tokens.$",
        ),
        (50, "has 50 tokens, and this model reads at most 50, new ones included. Shorten it"),
        (1_234, "has 1,234 tokens.*Shorten it"),
    ):
        with pytest.raises(Refusal, match=words):
            next(run_race(world, replace(PLAIN, prompt="a" * length)))
    with pytest.raises(Refusal, match="the prompt has 1: at most 49 new tokens") as refusal:
        next(run_race(world, replace(PLAIN, prompt="a", max_new=1_000_000)))
    assert refusal.value.field == "max_new"
    assert world.opened == []
    assert all(len(trace.tokens) == 30 for trace in ended(run_race(world, replace(PLAIN, prompt="a" * 20))))


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0},
        {"temperature": 0.001},
        {"temperature": 10, "seed": 2**53 - 1},
        {"temperature": 1, "top_k": 2**31 - 1, "top_p": 1e-12},
        {"temperature": 1.0, "top_k": 1},
        {"temperature": 1.0, "rule": "rejection", "top_p": 0.01},
        {"max_new": 1},
        {"prompt": "\x00\u2028 '\"</script>"},
    ],
)
def test_the_edges_of_what_can_be_run(change):
    for trace in ended(run_race(toy(), replace(PLAIN, **change))):
        assert len(trace.tokens) == trace.header.max_new and trace.end == "budget"
        text = trace.to_json()
        json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert Trace.from_json(text) == trace
