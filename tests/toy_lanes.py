"""Toy lanes and methods of every kind, for properties that hold for each of them."""

from __future__ import annotations

from hypothesis import strategies as st
from toy import DRAFTS, ToyFamily, family, records_of

from csd.decoding.methods import (
    AdaptiveCascade,
    Autoregressive,
    Cascade,
    HorizontalCascade,
    Method,
    PromptLookup,
    Speculative,
    VerticalCascade,
)
from csd.record.trace import Review

VOCAB = 6
NAMED = [
    Autoregressive(),
    Speculative("draft-2", 1),
    Speculative("draft-1", 5),
    PromptLookup(1),
    PromptLookup(10),
    VerticalCascade(DRAFTS[:1], (4, 6)),
    VerticalCascade(DRAFTS, (6, 3, 2, 8), lenience=3.0),
    HorizontalCascade(DRAFTS[1:], (2, 4, 9)),
    Cascade((), ((7,),)),
    Cascade(("draft-1",), ((0, 8), (0, 0))),  # a stage of no tokens: the leaf drafts alone
    Cascade(("draft-1",), ((5, 5), (0, 0))),  # the draft runs autoregressively
    Cascade(DRAFTS[:2], ((5, 19, 29), (0, 1, 11), (0, 0, 10))),  # the paper's worked example
    Cascade(DRAFTS, ((2, 4, 6, 14), (0, 2, 4, 9), (0, 0, 2, 8), (0, 0, 0, 8)), lenience=3.0),
    AdaptiveCascade(()),
    AdaptiveCascade(DRAFTS[:1]),
    AdaptiveCascade(DRAFTS, lenience=3.0),
]


@st.composite
def matrices(draw, drafts: int) -> tuple[tuple[int, ...], ...]:
    """Any K that the paper allows: upper triangular, rows that do not decrease."""
    n = drafts + 1
    rows = []
    for r in range(n):
        entries = sorted(draw(st.lists(st.integers(0, 7), min_size=n - r, max_size=n - r)))
        rows.append((0,) * r + tuple(entries))
    if rows[0][-1] == 0:
        rows[0] = (*rows[0][:-1], 1)
    return tuple(rows)


@st.composite
def methods(draw) -> Method:
    kind = draw(st.sampled_from(("speculative", "prompt lookup", "cascade", "cascade", "adaptive")))
    k, lenience = draw(st.integers(1, 9)), draw(st.sampled_from((1.0, 3.0)))
    if kind == "cascade":
        drafts = tuple(sorted(draw(st.sets(st.sampled_from(DRAFTS), min_size=1)), reverse=True))
        return Cascade(drafts, draw(matrices(len(drafts))), lenience)
    if kind == "adaptive":
        drafts = tuple(sorted(draw(st.sets(st.sampled_from(DRAFTS))), reverse=True))
        return AdaptiveCascade(drafts, lenience=lenience)
    return Speculative(draw(st.sampled_from(DRAFTS)), k) if kind == "speculative" else PromptLookup(k)


@st.composite
def settings_of_a_lane(draw) -> tuple[ToyFamily, tuple[int, ...], int, frozenset[int]]:
    """A family (drafts good or bad, contexts wide or tight), a prompt, a budget and a set of EOS ids."""
    toy = family(
        VOCAB,
        seed=draw(st.integers(0, 10**6)),
        noises=draw(st.sampled_from(((0.3, 0.7, 1.5), (0.0, 0.0, 0.0), (0.5, 4.0, 9.0)))),
        contexts={name: draw(st.one_of(st.integers(1, 40), st.just(400))) for name in DRAFTS},
        bigram=draw(st.booleans()),
        sharp=draw(st.sampled_from((0.3, 2.0))),
    )
    prompt = tuple(draw(st.lists(st.integers(0, VOCAB - 1), min_size=1, max_size=14)))
    eos = frozenset(draw(st.sets(st.integers(0, VOCAB - 1), max_size=2)))
    return toy, prompt, draw(st.integers(1, 40)), eos


def check_steps(steps, prompt: tuple[int, ...], max_new: int) -> None:
    """What every record must satisfy, whatever the tree."""
    at = len(prompt)
    for step in steps:
        review = step.review
        assert review.by == "target" and review.at == at and not review.skipped
        assert len(step.tokens) == len(step.authors) >= 1
        own = () if review.token is None else (review.token,)
        assert step.tokens == review.tokens[: review.accepted] + own
        assert step.authors == review.authors[: review.accepted] + ("target",) * len(own)
        at += len(step.tokens)
        assert at <= len(prompt) + max_new
        for record in records_of(review):
            assert len(record.tokens) == len(record.authors)
            assert record.at >= review.at and record.at + len(record.tokens) <= len(prompt) + max_new
            if isinstance(record, Review) and record.inner:
                drafted = tuple(token for inner in record.inner for token in emitted_by(inner))
                assert drafted == record.tokens


def emitted_by(record) -> tuple[int, ...]:
    if not isinstance(record, Review):
        return record.tokens
    return record.tokens[: record.accepted] + (() if record.token is None else (record.token,))
