"""Races worked out by hand, for tests that read traces: a small one for numbers, and a nested one for the stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from csd.record.recording import Recording
from csd.record.trace import Header, Level, Prefill, Proposal, Review, Step, Trace

LEVELS = (Level("MaxGram", 0), Level("Bigram", 0), Level("small", 1), Level("target", 2))
NESTED_LEVELS = (Level("MaxGram", 0), Level("Bigram", 0), Level("small", 1), Level("mid", 2), Level("target", 3))
WORDS = {
    1: "The",
    2: " fox",
    3: " ran",
    4: " home",
    5: " to",
    6: " sleep",
    7: " and",
    8: " then",
    9: " it",
    10: " sang",
}
HOSTILE = (
    "</script><script>window.hit = 1</script><!-- <img src=x onerror='window.hit = 1'> "
    "\u202e &amp; \u0000 \ud83d </pre>"
)
NUMBERED = {i: f" w{i}" for i in range(10)}


def header(method: str, **changes: Any) -> Header:
    base = Header(
        method=method, label="settings", settings={}, family="toy", levels=NESTED_LEVELS, prompt=(1, 2), text="The fox",
        max_new=64, eos=(), rule="rejection", temperature=1.0, top_k=0, top_p=1.0, seed=0, device="cpu",
        dtype="float32", versions={},
    )  # fmt: skip
    return replace(base, **changes)


# ---- the small race, greedy: two lanes of four tokens


def _small_header(method: str) -> Header:
    return header(
        method, label="", levels=LEVELS, prompt=(0, 1), text="w0 w1", max_new=4, rule="greedy", temperature=0.0
    )


def autoregressive() -> Trace:
    """Four tokens in four runs of 0.1 s, prefill 0.2 s: 10 tokens/s, with prefill 6.67."""
    steps = tuple(
        Step((2 + i,), ("target",), Review("target", 2 + i, (), (), 0, 2 + i, 0.2 + 0.1 * i, 0.1), 0.2 + 0.1 * i, 0.1)
        for i in range(4)
    )
    return Trace(_small_header("autoregressive"), (Prefill("target", 2, 0.0, 0.2),), steps, "budget", NUMBERED)


def cascade() -> Trace:
    """Four tokens in two rounds of 0.1 s, prefill 0.3 s: 20 tokens/s, with prefill 8.

    Round one: MaxGram's 2 and Bigram's 3 accepted, small's 9 rejected, correction 4. Round two: small's 5, no bonus.
    """
    guess = Proposal("MaxGram", 2, (2, 3), ("MaxGram", "Bigram"), 0.3, 0.005)
    inner = Review("small", 2, (2, 3), ("MaxGram", "Bigram"), 2, 9, 0.305, 0.02, (guess,))
    first = Review("target", 2, (2, 3, 9), ("MaxGram", "Bigram", "small"), 2, 4, 0.325, 0.07, (inner,), margin=0.5)
    second = Review("target", 5, (5,), ("small",), 1, None, 0.43, 0.06, (Review("small", 5, (), (), 0, 5, 0.4, 0.03),))
    steps = (
        Step((2, 3, 4), ("MaxGram", "Bigram", "target"), first, 0.3, 0.1),
        Step((5,), ("small",), second, 0.4, 0.1),
    )
    return Trace(_small_header("cascade"), (Prefill("target", 2, 0.0, 0.3),), steps, "budget", NUMBERED)


RACE = (autoregressive(), cascade())


# ---- the nested race, sampled: what the stage has to draw


def alone(tokens: Sequence[int] = tuple(WORDS), seconds: float = 0.1, pieces: Mapping[int, Any] = WORDS) -> Trace:
    """Autoregressive: one target pass per token, of which 10 ms are overhead; prefill 0.2 s."""
    steps = []
    for i, token in enumerate(tokens):
        start = 0.2 + i * seconds
        review = Review("target", 2 + i, (), (), 0, token, start, seconds - 0.01, margin=1.0)
        steps.append(Step((token,), ("target",), review, start, seconds))
    return Trace(header("autoregressive"), (Prefill("target", 2, 0.0, 0.2),), tuple(steps), "budget", pieces)


def nested() -> Trace:
    """Two reviews by hand. In the first, `mid` keeps one of two copied tokens and writes its own in place of the other,
    `small` writes one alone, MaxGram copies two; the target keeps 3 of the 5 and corrects. The second keeps all."""
    copied = Proposal("MaxGram", 2, (1, 9), ("MaxGram",) * 2, 0.201, 0.001)
    mid = Review("mid", 2, (1, 9), ("MaxGram",) * 2, 1, 2, 0.202, 0.010, (copied,))
    small = Review("small", 4, (), (), 0, 3, 0.213, 0.005)
    tail = Proposal("MaxGram", 5, (8, 7), ("MaxGram",) * 2, 0.218, 0.001)
    block, authors = (1, 2, 3, 8, 7), ("MaxGram", "mid", "small", "MaxGram", "MaxGram")
    root = Review(
        "target", 2, block, authors, 3, 4, 0.220, 0.020, (mid, small, tail),
        (0.9, 0.8, 0.7, 0.05, 0.5), (1.0, 0.6, 0.5, 1.0, 1.0), 2.5,
    )  # fmt: skip
    first = Step((1, 2, 3, 4), ("MaxGram", "mid", "small", "target"), root, 0.2, 0.045)
    again = Proposal("MaxGram", 6, (5, 6), ("MaxGram",) * 2, 0.246, 0.001)
    second = Review("target", 6, (5, 6), ("MaxGram",) * 2, 2, 7, 0.25, 0.02, (again,), (0.9, 0.9), (1.0, 1.0), 1.0)
    steps = (first, Step((5, 6, 7), ("MaxGram", "MaxGram", "target"), second, 0.245, 0.03))
    return Trace(
        header("cascade"), (Prefill("mid", 2, 0.0, 0.1), Prefill("target", 2, 0.1, 0.1)), steps, "budget", WORDS
    )


# ---- a race whose every text tries to run as a script


def hostile() -> Recording:
    pieces = {**alone().pieces, 3: HOSTILE, 4: (240, 159)}
    text = HOSTILE * 2
    traces = tuple(
        Trace(replace(t.header, text=text, label=HOSTILE), t.prefill, t.steps, t.end, pieces)
        for t in (alone(), nested())
    )
    return Recording(traces, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
