"""What the tests of `csd.bench` share: a toy family, a baseline that counts its calls, and timed runs made by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import toy

from csd.bench.baselines import Baseline
from csd.bench.plan import Entry, Mode
from csd.bench.report import Report
from csd.bench.summary import Summary
from csd.bench.timed_run import Decoded, TimedRun
from csd.decoding.methods import Autoregressive, Cascade, PromptLookup, Speculative
from csd.request.prompts import Prompt

METHODS = Autoregressive(), PromptLookup(3)
AR, LOOKUP = "1-autoregressive", "2-prompt-lookup"
BASELINE = Entry("some-baseline", "some baseline", token_by_token=True)
PROMPTS = Prompt("story", "abcab", max_new=8), Prompt("code", "gfgf", temperature=0.5, seed=2, max_new=6)

ENTRIES = (
    Entry(AR, "autoregressive", Autoregressive(), True),
    Entry("spec", "speculative, d, k=2", Speculative("d", 2)),
    Entry("casc", "cascade", Cascade(("d",), ((1, 2), (0, 1)))),
    Entry("eager", "transformers, eager", token_by_token=True),
    Entry("static", "transformers, static", token_by_token=True),
)


@dataclass(frozen=True)
class LaneFamily(toy.ToyFamily):
    """A toy without backends: its sessions are tables, so no time is spent inside models."""

    backends: dict = field(default_factory=dict)


def lane_family(**more) -> LaneFamily:
    return LaneFamily(**vars(toy.family(**more)))


def counting_baseline() -> tuple[Baseline, list[int]]:
    """A baseline that writes what the toy's target writes, two tokens and 0.5 s a block; and the lengths asked for."""
    calls: list[int] = []

    def decode(ids, max_new, eos):
        calls.append(max_new)
        tokens = toy.text_of(toy.steps_of(toy.family(), Autoregressive(), tuple(ids), max_new))
        return Decoded(tokens, tuple((min(2, max_new - at), 0.25 + at / 4) for at in range(0, max_new, 2)))

    return Baseline(BASELINE, decode), calls


def broken_baseline() -> Baseline:
    def decode(*_):
        raise RuntimeError("out of memory\nand more")

    return Baseline(Entry("broken", "broken one"), decode)


def timed_run(
    prompt: int,
    entry: str,
    speed: float,
    mode: Mode = "alone",
    repeat: int = 0,
    tokens: tuple[int, ...] = (1, 2, 3, 4),
    repeated: float = 0.0,
    margin: float | None = 0.5,
) -> TimedRun:
    """A run of these tokens at this speed, with half as many target passes; watched, a quarter is outside models."""
    seconds = len(tokens) / speed
    return TimedRun(
        prompt=prompt,
        repeat=repeat,
        mode=mode,
        entry=entry,
        tokens=tokens,
        timed_tokens=len(tokens),
        seconds=seconds,
        prefill=1.0,
        passes=len(tokens) // 2,
        repeated=repeated,
        forward_seconds=0.75 * seconds if mode == "watched" else None,
        margins=(margin,) * len(tokens) if entry == AR else None,
    )


def one_block_run() -> TimedRun:
    """A baseline's text that came as one block, so that nothing was timed."""
    return replace(timed_run(0, "eager", 1, "baseline"), timed_tokens=0, seconds=0.0, passes=0)


RUNS = (
    timed_run(0, AR, 8), timed_run(0, AR, 10, repeat=1), timed_run(0, AR, 20, repeat=2),
    timed_run(1, AR, 10, repeated=0.2),
    timed_run(0, "spec", 20), timed_run(1, "spec", 40),
    timed_run(0, "casc", 40), timed_run(1, "casc", 20), timed_run(0, "casc", 20, "race"),
    timed_run(0, "casc", 30, "watched"),
    timed_run(0, "eager", 5, "baseline"), timed_run(1, "eager", 5, "baseline"),
    timed_run(0, "static", 20, "baseline"), timed_run(1, "static", 20, "baseline"),
)  # fmt: skip


def make_summary(runs: Iterable[TimedRun] = RUNS, **more) -> Summary:
    return replace(Summary(ENTRIES, ("story", "code"), (6, 6), "float32", tuple(runs)), **more)


def make_report(**more) -> Report:
    prompts = Prompt("story", "Once", "A </script><b>fox"), Prompt("code", "def f():")
    report = Report("toy", "a machine", {"repeats": 3}, prompts, make_summary(), notes=("One is missing.",))
    return replace(report, **more)
