"""The rejection rule: the exact distribution of the text for trees of every shape, by enumerating all random outcomes."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

import pytest
import torch
from enumeration import distance, fits, target_probs, text_probs
from toy import DRAFTS, ToyFamily, family, steps_of, table, text_of

from csd.decoding import acceptance as accept
from csd.decoding.acceptance import Rejection
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
from csd.decoding.sampling import LogitsWarper, Sampler

ALL = LogitsWarper()


@dataclass(frozen=True)
class Case:
    """A tree and the setting it runs in. `eos`, `contexts` and filters make the edge cases."""

    method: Method
    vocab: int = 3
    count: int = 2
    max_new: int = 12
    warper: LogitsWarper = ALL
    prompt: tuple[int, ...] = (0, 1, 2, 0, 1)  # Max-Gram finds a match in it
    bigram: bool = False
    eos: frozenset[int] = frozenset()
    contexts: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return title(self.method)

    def toy(self, seed: int) -> ToyFamily:
        return family(self.vocab, seed, (1.0, 1.5, 2.0), dict(self.contexts), bigram=self.bigram, sharp=1.0)


TWO, THREE = DRAFTS[:2], DRAFTS
PAIRS = LogitsWarper(top_k=2)  # keeps the number of outcomes of deep trees small
SHAPES = [
    Case(Autoregressive(), vocab=4, count=3),
    Case(Speculative("draft-3", 1), vocab=4, count=3),
    Case(Speculative("draft-3", 3), warper=PAIRS),
    Case(PromptLookup(4), vocab=4, count=3),
    Case(PromptLookup(3), vocab=4, count=3, prompt=(3,), bigram=True),
    Case(VerticalCascade(("draft-3",), (3, 2)), warper=PAIRS),
    Case(Cascade(("draft-3",), ((1, 4), (0, 2)))),  # and horizontal
    Case(Cascade(("draft-3",), ((2, 4), (0, 0)))),  # the draft writes alone, then Max-Gram
    Case(VerticalCascade(TWO, (2, 1, 1)), warper=PAIRS),
    Case(HorizontalCascade(TWO, (1, 2, 4)), warper=PAIRS, count=3),
    Case(Cascade(TWO, ((1, 2, 3), (0, 1, 2), (0, 0, 1))), warper=PAIRS),
    Case(VerticalCascade(THREE, (1, 1, 1, 1)), warper=PAIRS),
    Case(Cascade(THREE, ((1, 1, 2, 2), (0, 1, 1, 1), (0, 0, 1, 1), (0, 0, 0, 1))), warper=PAIRS),
    Case(AdaptiveCascade(()), vocab=4, count=3),
    Case(AdaptiveCascade(("draft-3",)), max_new=5, warper=PAIRS, count=3),
    Case(AdaptiveCascade(TWO), max_new=5, warper=PAIRS),
]
EDGES = [
    Case(Cascade(("draft-3",), ((3, 3), (0, 2))), count=3, max_new=3),  # the room cuts drafts
    Case(Cascade(("draft-3",), ((1, 4), (0, 2))), eos=frozenset({2})),  # EOS inside drafts
    Case(Cascade(("draft-3",), ((1, 4), (0, 2))), count=3, eos=frozenset({0, 2})),
    Case(Cascade(("draft-3",), ((3, 5), (0, 2))), count=3, contexts=(("draft-3", 6),)),  # a context that fills up
    Case(VerticalCascade(TWO, (2, 1, 1)), contexts=(("draft-2", 5),)),
    Case(Cascade(("draft-3",), ((2, 4), (0, 2))), vocab=4, count=3, warper=LogitsWarper(0.7, top_k=2)),
    Case(Cascade(("draft-3",), ((2, 4), (0, 2))), vocab=4, warper=LogitsWarper(1.3, top_p=0.75)),
]
LENIENT = [
    replace(case, method=replace(case.method, lenience=3.0))
    for case in (*SHAPES, *EDGES)
    if hasattr(case.method, "lenience")
]


# The first seven have few outcomes; to enumerate those of the others takes seconds each.
SLOW = [pytest.param(case, marks=pytest.mark.slow) for case in (*SHAPES[7:], *LENIENT)]


@pytest.mark.parametrize("case", [*SHAPES[:7], *SLOW], ids=str)
def test_the_text_has_exactly_the_distribution_of_the_target(case):
    toy = case.toy(1)
    probs = text_probs(toy, case.method, case.warper, case.prompt, case.count, case.max_new, case.eos)
    assert math.isclose(sum(probs.values()), 1, abs_tol=1e-9)
    assert distance(probs, target_probs(toy, case.warper, case.prompt, case.count, case.eos)) < 1e-9


@pytest.mark.slow
def test_using_p_as_the_emitted_distribution_is_wrong(monkeypatch):
    """The control: with the reviewer's p instead of E, as Algorithm 1 suggests, lenience 3 changes the distribution."""
    case = Case(Cascade(("draft-3",), ((2, 2), (0, 2)), lenience=3.0))
    monkeypatch.setattr(accept, "emitted_probs", lambda p, q, lenience: p)
    toy = case.toy(1)
    probs = text_probs(toy, case.method, case.warper, case.prompt, case.count, case.max_new, case.eos)
    assert math.isclose(sum(probs.values()), 1, abs_tol=1e-9)
    assert distance(probs, target_probs(toy, case.warper, case.prompt, case.count, case.eos)) > 0.01


@pytest.mark.slow
def test_using_q_as_the_emitted_distribution_is_wrong(monkeypatch):
    case = Case(Cascade(("draft-3",), ((2, 2), (0, 2)), lenience=3.0))
    monkeypatch.setattr(accept, "emitted_probs", lambda p, q, lenience: q)
    toy = case.toy(1)
    probs = text_probs(toy, case.method, case.warper, case.prompt, case.count, case.max_new, case.eos)
    assert distance(probs, target_probs(toy, case.warper, case.prompt, case.count, case.eos)) > 0.01


@pytest.mark.slow
def test_the_real_sampler_gives_the_distribution_too():
    """A second check, with the sampler that races use: pairs of tokens through the real loop."""
    case = Case(Cascade(TWO, ((1, 2, 3), (0, 1, 2), (0, 0, 1)), lenience=3.0))
    toy, total, sampler = case.toy(3), 1200, Sampler(2024)
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(total):
        steps = steps_of(toy, case.method, case.prompt, 3, Rejection(LogitsWarper(), sampler))
        counts[text_of(steps)[:2]] += 1
        toy.opened.clear()
    probs = target_probs(toy, LogitsWarper(), case.prompt, 2, frozenset())
    assert fits(counts, probs, total)
    wrong = target_probs(family(3, 4, sharp=1.0), LogitsWarper(), case.prompt, 2, frozenset())
    assert not fits(counts, wrong, total)  # the test can fail


def test_the_toy_table_has_no_accidental_symmetry():
    """The toy distributions differ between contexts, so a row taken at the wrong position is noticed."""
    rows = table(3, 1, 1.0).softmax(-1).reshape(-1, 3)
    assert (rows[None] - rows[:, None]).abs().sum(-1).add(torch.eye(9)).min() > 1e-3
