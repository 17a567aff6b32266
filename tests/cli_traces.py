"""Traces of a few tokens for the tests of the command line: every token is written by the target alone."""

from __future__ import annotations

from collections.abc import Sequence

from csd.record.trace import Header, Level, Review, Step, Trace


def make_header(method: str = "autoregressive") -> Header:
    return Header(
        method=method, label="", settings={}, family="toy", levels=(Level("draft", 1), Level("target", 2)), prompt=(0,),
        text="The", max_new=9, eos=(), rule="greedy", temperature=0.0, top_k=0, top_p=1.0, seed=0, device="cpu",
        dtype="float32", versions={},
    )  # fmt: skip


def make_step(tokens: Sequence[int], at: int = 1, margin: float | None = 0.5, seconds: float = 0.25) -> Step:
    start = (at - 1) * seconds
    review = Review("target", at, (), (), 0, tokens[0], start, seconds, margin=margin)
    return Step(tuple(tokens), ("target",) * len(tokens), review, start, seconds)


def make_trace(
    method: str = "autoregressive",
    tokens: Sequence[int] = (1, 2, 3, 4),
    margin: float | None = 0.5,
    seconds: float = 0.25,
) -> Trace:
    """One target pass of `seconds` per token."""
    steps = tuple(make_step((token,), at, margin, seconds) for at, token in enumerate(tokens, 1))
    return Trace(make_header(method), (), steps, "budget", {token: f" w{token}" for token in (0, *tokens)})
