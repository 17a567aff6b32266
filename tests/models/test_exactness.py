"""The embedded family: every tree writes autoregressive decoding's text, greedy and coupled, and what transformers writes.

With the target in float64 a difference is a bug; its drafts stay in float32, since nothing that a draft says may change
the text. With the target in float32 too, widths round differently, so a difference is let pass only at a near-tie of
autoregressive decoding, and counted.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from toy import records_of

from csd.decoding.methods import (
    AdaptiveCascade,
    Autoregressive,
    Cascade,
    HorizontalCascade,
    Method,
    PromptLookup,
    Speculative,
    VerticalCascade,
    title,
)
from csd.record.trace import Review, Trace
from csd.record.verdict import judge
from csd.request.request import Request
from csd.run import LaneFinished, run_race

pytestmark = pytest.mark.slow

ASSETS = Path(__file__).resolve().parents[2] / "assets"
NEAR_TIE = 1e-4
TOKENS = 20  # of each text
MID, SMALL, BOTH = ("small",), ("tiny",), ("small", "tiny")

TREES: tuple[Method, ...] = (
    Speculative("small", 4),
    VerticalCascade(MID, (8, 5), lenience=3.0),
    VerticalCascade(BOTH, (7, 3, 4)),
    VerticalCascade(BOTH, (7, 3, 4), lenience=3.0),
    HorizontalCascade(BOTH, (3, 6, 10)),
    Cascade(SMALL, ((4, 10), (0, 6)), lenience=3.0),
    Cascade(BOTH, ((2, 6, 10), (0, 4, 8), (0, 0, 8))),
    Cascade(BOTH, ((5, 9, 13), (0, 1, 6), (0, 0, 5)), lenience=3.0),
    AdaptiveCascade(BOTH),
    AdaptiveCascade(MID, lenience=3.0),
)

ODD = ("x", "Ünïcödé and 日本 🙂")  # few: little of a draft is accepted there, which takes time


@cache
def prompts() -> tuple[str, ...]:
    """Ten: some odd ones, the rest beginnings of documents as the family's own generators write them.

    Every other one is raced greedily, the rest under the coupled rule.
    """
    sys.path.insert(0, str(ASSETS / "family"))
    try:
        from stories import story
        from synthetic import word_problem
    finally:
        sys.path.pop(0)
    r = random.Random(20)
    made = [story(r)[: r.randint(25, 65)].rsplit(" ", 1)[0] for _ in range(5)]
    answered = [word_problem(r).split("Answer:")[0] + "Answer:" for _ in range(40)]
    return (*ODD, *made, *sorted(answered, key=len)[:3])


@cache
def opened(dtype: str):
    from csd.models.catalog import READY
    from csd.models.loading import load_family

    spec = READY[0]
    spec = replace(spec, drafts=tuple(replace(draft, dtype="float32") for draft in spec.drafts))
    return load_family(spec, device="cpu", dtype=dtype)


def lanes(family, settings: Request) -> list[Trace]:
    ended = [event for event in run_race(family, settings) if isinstance(event, LaneFinished)]
    return [event.trace for event in sorted(ended, key=lambda event: event.lane)]


@cache
def oracle():
    """transformers' model; the family itself keeps only what its backends need."""
    return opened("float64").reference("target")


def generated(prompt: tuple[int, ...]) -> tuple[int, ...]:
    import torch

    ids = torch.tensor([prompt])
    with torch.inference_mode():
        out = oracle().generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=TOKENS,
            eos_token_id=opened("float64").vocab + 1,  # one that never comes
            pad_token_id=0,
        )
    return tuple(out[0, len(prompt) :].tolist())


def asked(prompt: str, number: int) -> Request:
    temperature = 0.0 if number % 2 == 0 else (0.5, 0.8)[number // 2 % 2]
    return Request(
        prompt,
        (Autoregressive(), *TREES),
        max_new=TOKENS,
        temperature=temperature,
        top_k=40 if number % 10 == 3 else 0,
        top_p=0.9 if number % 10 == 7 else 1.0,
        seed=number,
        stop_at_eos=False,
    )


@cache
def raced() -> tuple[list[Trace], ...]:
    """All prompts, autoregressive and every tree side by side in one race each."""
    return tuple(lanes(opened("float64"), asked(prompt, number)) for number, prompt in enumerate(prompts()))


def raced_by(rule: str) -> list[list[Trace]]:
    found = [traces for traces in raced() if traces[0].header.rule == rule]
    assert len(found) == len(prompts()) / 2
    return found


def inner(trace: Trace) -> Iterator[Review]:
    for step in trace.steps:
        for record in records_of(step.review):
            if isinstance(record, Review) and record.by != "target":
                yield record


@pytest.mark.parametrize("rule", ["greedy", "coupled"])
def test_every_tree_writes_the_text_of_autoregressive_decoding(rule):
    races = raced_by(rule)
    for reference, *others in races:
        assert [trace.header.title for trace in others] == [title(tree) for tree in TREES]
        assert len(reference.tokens) == len(reference.steps) == TOKENS
        for trace in others:
            assert trace.tokens == reference.tokens, (trace.header.title, trace.header.text)
            assert judge(trace, reference).kind == "identical"
    # The equality says something only where drafts were accepted, by the target and inside.
    for place in range(1, len(TREES) + 1):
        steps = sum(len(traces[place].steps) for traces in races)
        assert steps < len(races) * TOKENS * 0.9, title(TREES[place - 1])
    assert len({traces[0].tokens for traces in races}) > len(races) - 2  # and where the texts are not all the same


def test_lenience_changes_what_inner_reviewers_accept_and_nothing_else():
    strict, lenient = (TREES.index(VerticalCascade(BOTH, (7, 3, 4), lenience=x)) + 1 for x in (1.0, 3.0))
    for rule in ("greedy", "coupled"):
        rates = []
        for place in (strict, lenient):
            reviews = [r for traces in raced_by(rule) for r in inner(traces[place])]
            rates.append(sum(r.accepted for r in reviews) / sum(len(r.tokens) for r in reviews))
        assert rates[1] > rates[0] + 0.02, (rule, rates)
        assert all(traces[strict].tokens == traces[lenient].tokens for traces in raced())


def test_greedy_is_what_transformers_writes():
    """The oracle from outside, without any of this project's decoding."""
    for reference, *_ in raced_by("greedy"):
        assert generated(reference.header.prompt) == reference.tokens, reference.header.text


def test_float32_differs_at_near_ties_only(capsys):
    family = opened("float32")
    chosen = (TREES[0], PromptLookup(8), TREES[3], TREES[6])
    compared = ties = ended = 0
    for number, prompt in enumerate(prompts()[::3]):
        temperature = (0.0, 0.8)[number % 2]
        settings = Request(prompt, (Autoregressive(), *chosen), max_new=40, temperature=temperature, seed=number)
        reference, *others = lanes(family, settings)
        ended += reference.end == "eos"
        for trace in others:
            found = judge(trace, reference)
            compared += 1
            if found.kind != "identical":
                assert found.margin is not None and found.margin < NEAR_TIE, (trace.header.title, prompt, found)
                ties += 1
    with capsys.disabled():
        print(f"\n[float32: {compared} lanes compared, {ties} left the text at a near-tie, {ended} prompts ran to EOS]")
    assert compared == 4 * len(prompts()[::3])
    assert ties <= 2
