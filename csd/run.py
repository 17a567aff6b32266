"""From a prompt to traces: the one path that the page, the API, the command line and the benchmark take.

Importable without torch.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING

from csd.decoding.generate import generate
from csd.decoding.interleave import race as interleaved
from csd.decoding.maxgram import Index
from csd.decoding.methods import Method, Refusal, checked, tree
from csd.record.trace import Header, Level, Prefill, Step, Trace

if TYPE_CHECKING:
    from csd.decoding.acceptance import Accept
    from csd.models.family import Family

Pieces = dict[int, str | tuple[int, ...]]
RULES = ("coupled", "rejection")
COLDEST = 0.001  # above 0: logits divided by less may leave float32
STATISTICAL = (Level("MaxGram", 0), Level("Bigram", 0))

__all__ = ["Ended", "Moved", "Opened", "Refusal", "Settings", "checked_prompt", "race"]


@dataclass(frozen=True)
class Settings:
    """What the visitor asked for. `rule` matters where `temperature` is above 0; at 0 decoding is greedy."""

    prompt: str
    methods: tuple[Method, ...]
    max_new: int = 128
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    rule: str = "coupled"
    stop_at_eos: bool = True


@dataclass(frozen=True)
class Opened:
    """The race begins: one header for each lane, and the text of the prompt's ids."""

    headers: tuple[Header, ...]
    pieces: Pieces


@dataclass(frozen=True)
class Moved:
    """One lane moved. `pieces` holds the ids that this race has not shown before."""

    lane: int
    record: Prefill | Step
    pieces: Pieces


@dataclass(frozen=True)
class Ended:
    """One lane is through, or was stopped."""

    lane: int
    trace: Trace


@dataclass
class _Run:
    """A lane in motion."""

    header: Header
    records: Iterator[Prefill | Step]
    prefill: list[Prefill] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    ended: bool = False


def race(
    family: Family, settings: Settings, stopped: Callable[[], bool] = lambda: False
) -> Iterator[Opened | Moved | Ended]:
    """Run the methods on one prompt, interleaved, and yield what happens as it happens.

    Once `stopped()` is true the lanes end where they are, within one step. Raises Refusal, before anything runs, for a
    prompt or a knob that cannot be.
    """
    prompt = checked_prompt(family, settings)
    runs = [_start(family, settings, method, prompt) for method in settings.methods]
    pieces: Pieces = family.pieces(prompt)
    yield Opened(tuple(run.header for run in runs), dict(pieces))
    for lane, record in interleaved([run.records for run in runs], stopped):
        run = runs[lane]
        if record is None:
            run.ended = True
            yield Ended(lane, _trace(run, pieces))
            continue
        (run.steps if isinstance(record, Step) else run.prefill).append(record)
        new = family.pieces(sorted(_mentioned(record) - pieces.keys()))
        pieces.update(new)
        yield Moved(lane, record, new)
    for lane, run in enumerate(runs):
        if not run.ended:
            run.records.close()
            yield Ended(lane, _trace(run, pieces))


def checked_prompt(family: Family, settings: Settings) -> tuple[int, ...]:
    """The prompt's ids, if the family can run these settings. Raises Refusal with a sentence."""
    if not settings.methods:
        raise Refusal("Choose at least one method to run.")
    for method in settings.methods:
        checked(
            method, tuple(level.name for level in reversed(family.levels) if 0 < level.level < family.levels[-1].level)
        )
    if not (_number(settings.temperature, 0, 0) or _number(settings.temperature, COLDEST, 10)):
        raise Refusal(f"Temperature must be 0 (greedy) or a number from {COLDEST} to 10, not {settings.temperature!r}.")
    if not _number(settings.top_p, 0, 1) or settings.top_p == 0:
        raise Refusal(f"Top-p must be a number above 0 and at most 1, not {settings.top_p!r}; 1 switches it off.")
    if not _number(settings.top_k, 0, math.inf, int):
        raise Refusal(f"Top-k must be a whole number of at least 0, not {settings.top_k!r}; 0 switches it off.")
    if not _number(settings.seed, 0, 2**63 - 1, int):
        raise Refusal(f"The seed must be a whole number of at least 0, not {settings.seed!r}.")
    if settings.rule not in RULES:
        raise Refusal(f"The rule must be one of {', '.join(RULES)}, not {settings.rule!r}.")
    if not _number(settings.max_new, 1, family.context, int):
        raise Refusal(f"New tokens must be a whole number from 1 to {family.context - 1}, not {settings.max_new!r}.")
    if not isinstance(settings.prompt, str) or not settings.prompt.strip():
        raise Refusal("The prompt is empty. Type a text for the models to continue, or pick an example.")
    prompt = tuple(family.encode(settings.prompt))
    if len(prompt) + settings.max_new > family.context:
        room = family.context - len(prompt)
        advice = f"ask for at most {room} new tokens, or shorten it" if room > 0 else "shorten it"
        raise Refusal(
            f"The prompt has {len(prompt):,} tokens. With {settings.max_new:,} new tokens that is over the limit of "
            f"{family.context:,} of the target model: {advice}."
        )
    return prompt


def _start(family: Family, settings: Settings, method: Method, prompt: tuple[int, ...]) -> _Run:
    capacity = len(prompt) + settings.max_new
    sessions = {name: family.session(name, capacity) for name in method.models}
    index = Index(method.longest, method.earliest)
    eos = family.eos if settings.stop_at_eos else frozenset()
    strict, inner = _rules(family, settings, method)
    bigram = family.bigram if method.copies else None
    root = tree(method, sessions, index, bigram, strict, inner, family.costs)
    readers = [*([index] if method.copies else []), *sessions.values()]
    header = Header(
        method=method.name,
        title=method.title,
        family=family.spec.name,
        levels=(*STATISTICAL, *family.levels),
        prompt=prompt,
        text=settings.prompt,
        max_new=settings.max_new,
        eos=tuple(sorted(eos)),
        rule=settings.rule if settings.temperature > 0 else "greedy",
        temperature=settings.temperature,
        top_k=settings.top_k,
        top_p=settings.top_p,
        seed=settings.seed,
        lenience=method.lenience,
        K=method.K,
        k=method.k,
        draft=method.draft,
        device=str(family.device),
        dtype=family.dtype,
        versions={"python": sys.version.split()[0], "torch": version("torch"), "transformers": version("transformers")},
    )
    return _Run(header, generate(root, readers, prompt, settings.max_new, eos))


def _rules(family: Family, settings: Settings, method: Method) -> tuple[Accept, Accept]:
    """The target's rule and that of the inner reviewers; noise and dice are one lane's own."""
    from csd.decoding.acceptance import Coupled, Dice, Filter, Greedy, Noise, Rejection, lenient

    if settings.temperature == 0:
        rule: Accept = Greedy()
    else:
        chosen = Filter(settings.temperature, settings.top_k, settings.top_p)
        if settings.rule == "coupled":
            rule = Coupled(chosen, Noise(settings.seed, family.vocab, family.device))
        else:
            rule = Rejection(chosen, Dice(settings.seed))
    return rule, lenient(rule, method.lenience)


def _trace(run: _Run, pieces: Pieces) -> Trace:
    used = set(run.header.prompt).union(*map(_mentioned, run.steps))
    return Trace(run.header, tuple(run.prefill), tuple(run.steps), _end(run), {i: pieces[i] for i in sorted(used)})


def _end(run: _Run) -> str:
    """Why the text ended where it does."""
    if run.steps and run.steps[-1].tokens[-1] in run.header.eos:
        return "eos"
    return "budget" if sum(len(step.tokens) for step in run.steps) == run.header.max_new else "stopped"


def _mentioned(record) -> set[int]:
    """Every id that a record names."""
    if isinstance(record, Prefill):
        return set()
    if isinstance(record, Step):
        return set(record.tokens) | _mentioned(record.review)
    return set(record.tokens).union(*map(_mentioned, getattr(record, "inner", ())))


def _number(value: object, low: float, high: float, kind: type = float) -> bool:
    allowed = (int,) if kind is int else (int, float)
    return isinstance(value, allowed) and not isinstance(value, bool) and low <= value <= high
