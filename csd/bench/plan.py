"""What a benchmark measures, and in which order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from csd.decoding.errors import Refusal
from csd.decoding.methods import Autoregressive, Cascade, Method, title
from csd.request.prompts import Prompt
from csd.run import check_request

if TYPE_CHECKING:
    from csd.models.family import Family

Mode = Literal["alone", "race", "baseline", "watched"]
"""How something runs: a method by itself, all methods at once, one of transformers' own ways to decode, or a method by
itself with a stopwatch around each forward pass.

A stopwatch costs a method with more passes more, so the speed of a watched run does not count.
"""
SPEED_MODES: tuple[Mode, ...] = ("alone", "baseline")
"""The runs whose speed is an entry's speed."""


@dataclass(frozen=True)
class Entry:
    """Something to measure: one of the methods or, where `method` is None, one of transformers' own ways to decode.

    `id` identifies it in files and figures, `title` is only displayed. `token_by_token`: each target pass gives one
    token, so its speed may count as that of autoregressive decoding.
    """

    id: str
    title: str
    method: Method | None = None
    token_by_token: bool = False


@dataclass(frozen=True)
class Plan:
    """Everything that is measured. `race`: the methods also run in a race, all at once."""

    prompts: tuple[Prompt, ...]
    methods: tuple[Method, ...]
    baselines: tuple[Entry, ...] = ()
    repeats: int = 3
    race: bool = True

    @cached_property
    def method_entries(self) -> tuple[Entry, ...]:
        """The methods, identified by their position and name."""
        return tuple(
            Entry(_slug(f"{number}-{method.name}"), self._title(method), method, isinstance(method, Autoregressive))
            for number, method in enumerate(self.methods, 1)
        )

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The methods, then the baselines."""
        return (*self.method_entries, *self.baselines)

    def _title(self, method: Method) -> str:
        """A cascade's title names its drafts where another cascade has others."""
        drafts = {one.drafts for one in self.methods if isinstance(one, Cascade)}
        if isinstance(method, Cascade) and len(drafts) > 1:
            return f"{title(method)}, {' and '.join(method.drafts)}"
        return title(method)


@dataclass(frozen=True)
class Job:
    """One thing to time on a prompt. `entry` is an entry's id; it is empty for a race, in which all methods run."""

    prompt: int
    repeat: int
    mode: Mode
    entry: str


def list_jobs(plan: Plan) -> Iterator[Job]:
    """Everything to time, in order: within each prompt and repeat all entries take turns, and the first one rotates.

    Then each method runs once more, watched. Baselines decode greedily, so they are left out for prompts that are
    sampled.
    """
    turns: list[tuple[Mode, str]] = [("alone", entry.id) for entry in plan.method_entries]
    turns.extend(("baseline", entry.id) for entry in plan.baselines)
    if plan.race and len(plan.methods) > 1:
        turns.append(("race", ""))
    for number, prompt in enumerate(plan.prompts):
        for repeat in range(plan.repeats):
            first = repeat % len(turns)
            for mode, entry in turns[first:] + turns[:first]:
                if mode != "baseline" or prompt.temperature == 0:
                    yield Job(number, repeat, mode, entry)
        for entry in plan.method_entries:
            yield Job(number, 0, "watched", entry.id)


def check_plan(family: Family, plan: Plan) -> None:
    """Raise Refusal where the family cannot run the plan."""
    if not plan.prompts:
        raise Refusal("No prompts are left to measure. Use shorter prompts or fewer new tokens.")
    if plan.repeats < 1:
        raise Refusal(f"At least one repeat is needed, not {plan.repeats}.")
    for method in plan.methods:
        if plan.methods.count(method) > 1:
            raise Refusal(f"The method {title(method)!r} is listed twice. Name each method once.")
    for prompt in plan.prompts:
        check_request(family, prompt.to_request(plan.methods))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
