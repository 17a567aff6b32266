"""Two small hand-made lanes whose numbers one can work out: `plain` (autoregressive) and `cascade`."""

from __future__ import annotations

from csd.record.trace import Header, Level, Prefill, Proposal, Review, Step, Trace

LEVELS = (Level("MaxGram", 0), Level("Bigram", 0), Level("small", 1), Level("target", 2))


def header(prompt: tuple[int, ...] = (1, 2, 3)) -> Header:
    return Header(
        "cascade", "", {}, "toy", LEVELS, prompt, "abc", 64, (0,), "greedy", 0.0, 0, 1.0, 0, "cpu", "float64", {},
    )  # fmt: skip


def plain(tokens: tuple[int, ...], end: str = "budget", prompt: tuple[int, ...] = (1, 2, 3)) -> Trace:
    """An autoregressive lane: one token a step, 0.1 s each, margins 0.5, 1.5, 2.5 ..."""
    steps = tuple(
        Step(
            (t,), ("target",), Review("target", len(prompt) + i, (), (), 0, t, i / 10, 0.1, margin=i + 0.5), i / 10, 0.1
        )
        for i, t in enumerate(tokens)
    )
    return Trace(header(prompt), (), steps, end, {})


def cascade() -> Trace:
    """Two steps. In the first Max-Gram drafts 4 5 6 for the small model, which accepts 4 5 and says 7; then Max-Gram adds
    8 9; the target accepts 4 5 7 8 of 4 5 7 8 9 and says 10. In the second the small model's context is full, a bigram
    drafts 11, and the target accepts it and says 12."""
    copied = Proposal("MaxGram", 3, (4, 5, 6), ("MaxGram",) * 3, 0.0, 0.01)
    small = Review("small", 3, (4, 5, 6), ("MaxGram",) * 3, 2, 7, 0.02, 0.10, (copied,))
    more = Proposal("MaxGram", 6, (8, 9), ("MaxGram",) * 2, 0.12, 0.02)
    authors = ("MaxGram", "MaxGram", "small", "MaxGram", "MaxGram")
    first = Review("target", 3, (4, 5, 7, 8, 9), authors, 4, 10, 0.2, 0.30, (small, more), margin=0.25)
    full = Review("small", 8, (), (), 0, None, 0.5, 0.0, skipped="full")
    guess = Proposal("MaxGram", 8, (11,), ("Bigram",), 0.5, 0.03)
    second = Review("target", 8, (11,), ("Bigram",), 1, 12, 0.6, 0.20, (full, guess), margin=0.75)
    steps = (
        Step((4, 5, 7, 8, 10), (*authors[:4], "target"), first, 0.0, 0.5),
        Step((11, 12), ("Bigram", "target"), second, 0.5, 0.3),
    )
    return Trace(header(), (Prefill("small", 3, 0, 0.1), Prefill("target", 3, 0.1, 0.1)), steps, "budget", {})
