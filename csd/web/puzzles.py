"""Puzzles that a visitor's own races solve: what was measured is checked, never compared with a stored answer.

Each check takes the races of the visit, the latest one last. Pure; no gradio.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.methods import Autoregressive, Cascade, PromptLookup, Speculative
from csd.own_files import own_json, reading
from csd.paths import ASSETS
from csd.record import metrics
from csd.record.race import Race
from csd.record.trace import Trace
from csd.roles import roles
from csd.sentences import capitalized
from csd.stage.standing import CASCADES, EVEN, times
from csd.theme import method_phrase
from csd.theory.comparison import compare_with_theory
from csd.theory.plan import method_of

RIVALS = (Autoregressive.name, Speculative.name, PromptLookup.name)  # of a cascade
WANTED = 2.5  # times the speed of autoregressive decoding
CLOSE = 0.05  # relative distance of a good prediction


@dataclass(frozen=True)
class Puzzle:
    """A task under a title, what is to be done first, a hint for those who ask for it, and the setting that it is
    about, by the id of its field."""

    key: str
    title: str
    task: str
    start: str
    hint: str
    field: str


@dataclass(frozen=True)
class Attempt:
    """What an attempt came to: whether the races solve a puzzle, and what was measured, as a sentence."""

    solved: bool
    said: str


@dataclass(frozen=True)
class Question:
    """What a prediction starts from: the draft's role, its measured alpha and c, and k. `predicted` is the theory's
    answer, `measured` the speed-up in the race."""

    draft: str
    k: int
    alpha: float
    c: float
    predicted: float
    measured: float

    @property
    def asked(self) -> str:
        return (
            f"In the speculative lane of your last race the {self.draft} guessed k = {self.k} per step, "
            f"with α = {self.alpha:.2f} and c = {self.c:.2f}. "
            "How many times as fast as the big model alone is that?"
        )


def _read_puzzles(file: Path) -> tuple[Puzzle, ...]:
    with reading(file):
        return tuple(Puzzle(**one) for one in own_json(file))


PUZZLES = _read_puzzles(ASSETS / "puzzles.json")


def puzzle_value(races: Sequence[Race], latest: str = "") -> dict[str, Any]:
    """What the panel shows: what the latest race came to for each puzzle, and the question.

    `latest` is the id of that race, which counts once; empty where another race is shown, which solves nothing."""
    found = {key: asdict(check(races)) for key, check in CHECKS.items()} if races and latest else {}
    question = find_question(races)
    return {"race": latest, "found": found, "question": question.asked if question else ""}


def lose(races: Sequence[Race]) -> Attempt:
    """Solved by a cascade that is slower than another method at temperature 0: above it the page loses at a click.
    An attempt without speculative decoding is told that it did not race."""
    race = races[-1]
    cascades = [trace for trace in race.traces if trace.header.method in CASCADES]
    rivals = [trace for trace in race.traces if trace.header.method in RIVALS]
    if not cascades:
        return _missing(Cascade.name)
    if not rivals:
        return _missing(Speculative.name)
    if fault := _does_not_count(race):
        return fault
    if race.traces[0].header.temperature > 0:
        return Attempt(False, "at a temperature above 0 that is easy, as “Make it lose” shows. Try it at 0.")
    slowest, rival = min(cascades, key=metrics.speed), max(rivals, key=metrics.speed)
    ratio = metrics.speed(slowest) / metrics.speed(rival)
    cascade, other = method_phrase(slowest.header.method), method_phrase(rival.header.method)
    said = f"{cascade} has {times(ratio)} the speed of {other} on your text."
    if ratio > 1 - EVEN and _lane(race, Speculative.name) is None:
        return Attempt(False, f"{said} {capitalized(_missing(Speculative.name).said)}")
    return Attempt(ratio <= 1 - EVEN, said)


def length(races: Sequence[Race]) -> Attempt:
    """Solved by a speculative lane that is fast enough, beside the autoregressive lane."""
    race = races[-1]
    if (lane := _lane(race, Speculative.name)) is None:
        return _missing(Speculative.name)
    if fault := _no_reference(race) or _does_not_count(race) or _repeats(race):
        return fault
    ratio = race.speedup(lane) or 0.0
    guessing = f"speculative decoding with k = {lane.header.settings.get('k', '?')}"
    return Attempt(ratio > WANTED, f"{guessing} has {ratio:.2f}× the speed of the big model alone on your text.")


def drop(races: Sequence[Race]) -> Attempt:
    """Solved by two races on one prompt: a plan without some level, at least as fast as one in which all levels write.

    Speeds are compared as ratios to the autoregressive lane of each race.
    """
    race = races[-1]
    if (lane := _lane(race, Cascade.name)) is None:
        return _missing(Cascade.name)
    if fault := _no_reference(race) or _does_not_count(race):
        return fault
    ratio = race.speedup(lane) or 0.0
    left_out = _left_out(lane)
    if not left_out:
        return Attempt(False, f"every level writes: {ratio:.2f}×. Now leave one out, on the same prompt.")
    whole = [speed for other in races[:-1] if (speed := _speed_of_whole(other, lane))]
    called = roles(lane.header.levels)
    names = " and ".join(f"the {called.get(name, name)}" for name in left_out)
    if not whole:
        return Attempt(False, f"without {names}: {ratio:.2f}×. Now race a plan in which every level writes.")
    alone = f"without {names} the cascade has {ratio:.2f}× the speed of the big model alone"
    said = f"{alone}, with every level {max(whole):.2f}×."
    return Attempt(ratio >= max(whole), said)


def copying(races: Sequence[Race]) -> Attempt:
    """Solved where prompt lookup is faster than every other lane, a cascade or a draft among them."""
    race = races[-1]
    lane = _lane(race, PromptLookup.name)
    others = [trace for trace in race.traces if trace is not lane]
    if lane is None:
        return _missing(PromptLookup.name)
    if not any(trace.header.method in (*CASCADES, Speculative.name) for trace in others):
        return _missing(Speculative.name)
    if fault := _does_not_count(race) or _repeats(race):
        return fault
    best = max(others, key=metrics.speed)
    ratio = metrics.speed(lane) / metrics.speed(best)
    said = f"prompt lookup has {ratio:.2f}× the speed of {method_phrase(best.header.method)}, the fastest other lane."
    return Attempt(ratio >= 1 + EVEN, said)


CHECKS: Mapping[str, Callable[[Sequence[Race]], Attempt]] = {
    "lose": lose,
    "length": length,
    "drop": drop,
    "copying": copying,
}
"""The puzzles that a race solves; the prediction is solved by a number, see `check_guess`."""


def find_question(races: Sequence[Race]) -> Question | None:
    """From the latest race with a speculative lane whose acceptance and cost were measured."""
    for race in reversed(races):
        lane = _lane(race, Speculative.name)
        method = method_of(lane) if lane else None
        if lane is None or not isinstance(method, Speculative):
            continue
        theory = compare_with_theory(race)[race.traces.index(lane)]
        count = next((one for pair, one in theory.acceptance.items() if pair[1] == method.draft), None)
        c = theory.costs.get(method.draft)
        if count and c and theory.flat and theory.measured:
            role = roles(lane.header.levels).get(method.draft, method.draft)
            return Question(role, method.k, count.rate, c, theory.flat, theory.measured[0])
    return None


def check_guess(question: Question | None, guess: Any) -> Attempt:
    """A visitor's number against the theory's; what was measured is told with it."""
    if question is None:
        return Attempt(False, "race with speculative decoding first, beside the autoregressive lane.")
    if isinstance(guess, bool) or not isinstance(guess, (int, float)) or not math.isfinite(guess) or guess <= 0:
        return Attempt(False, "enter a number such as 2.4.")
    near = abs(guess / question.predicted - 1) <= CLOSE
    if not near:
        return Attempt(False, f"{guess:g}× is too {'high' if guess > question.predicted else 'low'}.")
    said = f"you said {guess:g}×, the theory says {question.predicted:.2f}×, and {question.measured:.2f}× was measured."
    return Attempt(True, said)


def _lane(race: Race, method: str) -> Trace | None:
    return next((trace for trace in race.traces if trace.header.method == method), None)


def _missing(method: str) -> Attempt:
    """A race without the lane that a puzzle is about."""
    return Attempt(False, f"{method_phrase(method)} did not race. Tick “{method}” under Settings, then press Race.")


def _no_reference(race: Race) -> Attempt | None:
    return _missing(Autoregressive.name) if race.reference is None else None


def _does_not_count(race: Race) -> Attempt | None:
    """A race that says too little about speed."""
    if any(trace.end == "stopped" for trace in race.traces):
        return Attempt(False, "a race that was stopped does not count.")
    if min(len(trace.tokens) for trace in race.traces) < metrics.SHORT_RUN:
        return Attempt(False, f"a text of fewer than {metrics.SHORT_RUN} tokens says too little about speed.")
    return None


def _repeats(race: Race) -> Attempt | None:
    if not any(map(metrics.repeats_itself, race.traces)):
        return None
    return Attempt(False, "a text that repeats itself does not count: it is easy to guess.")


def _left_out(lane: Trace) -> tuple[str, ...]:
    """The levels that a lane's K gives nothing to write."""
    method = method_of(lane)
    if not isinstance(method, Cascade):
        return ()
    at_work = frozenset[str]().union(*(stage.names() for stage in method.stages()))
    return tuple(name for name in (*lane.header.drafts, MAX_GRAM) if name not in at_work)


def _speed_of_whole(race: Race, like: Trace) -> float | None:
    """The speed-up of a cascade in which every level writes, in an earlier race on the same prompt and sampling."""
    lane = _lane(race, Cascade.name)
    if lane is None or _sampling(lane) != _sampling(like) or _left_out(lane) or _does_not_count(race):
        return None
    return race.speedup(lane)


def _sampling(trace: Trace) -> tuple[Any, ...]:
    one = trace.header
    return one.family, one.prompt, one.temperature, one.top_k, one.top_p, one.seed, one.rule
