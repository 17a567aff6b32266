"""Races whose second lane writes two tokens a round: for tests of what is said of a race."""

from __future__ import annotations

from dataclasses import replace

from csd.record.trace import Header, Level, Prefill, Proposal, Review, Step, Trace

LEVELS = (Level("MaxGram", 0), Level("Bigram", 0), Level("small", 1), Level("target", 2))
PIECES = {i: f" w{i}" for i in range(100)}
PROMPT = (0, 1)


def header(method: str, **changes) -> Header:
    base = Header(
        method=method, label="settings", settings={}, family="toy", levels=LEVELS, prompt=PROMPT, text="w0 w1",
        max_new=64, eos=(), rule="greedy", temperature=0.0, top_k=0, top_p=1.0, seed=0, device="cpu", dtype="float32", versions={},
    )  # fmt: skip
    return replace(base, **changes)


def alone(tokens, seconds=0.1, margin=1.0, **changes) -> Trace:
    """Autoregressive: one target pass per token, prefill 0.2 s."""
    steps = tuple(
        Step(
            (token,), ("target",), Review("target", 2 + i, (), (), 0, token, 0.0, seconds, margin=margin), 0.0, seconds
        )
        for i, token in enumerate(tokens)
    )
    return Trace(header("autoregressive", **changes), (Prefill("target", 2, 0.0, 0.2),), steps, "budget", PIECES)


def drafted(tokens, by="MaxGram", method="cascade", seconds=0.1, end="budget", **changes) -> Trace:
    """Rounds of two: one token of `by`, accepted, and the target's bonus; prefill 0.2 s."""
    steps = []
    for i in range(0, len(tokens), 2):
        pair = tuple(tokens[i : i + 2])
        guess = Proposal(by, 2 + i, pair[:1], (by,), 0.0, 0.0)
        own = pair[1] if len(pair) > 1 else None
        review = Review("target", 2 + i, pair[:1], (by,), 1, own, 0.0, seconds, (guess,), margin=0.5)
        steps.append(Step(pair, (by, "target")[: len(pair)], review, 0.0, seconds))
    return Trace(header(method, **changes), (Prefill("target", 2, 0.0, 0.2),), tuple(steps), end, PIECES)
