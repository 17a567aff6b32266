"""Which family is loaded next: one at a time, however many visitors ask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from csd.models import catalog
from csd.models.compiling import CompileStep
from csd.models.spec import FamilySpec
from csd.request.defaults import Defaults, defaults_for

if TYPE_CHECKING:
    from csd.models.family import Family

MOST_WAITING = 4  # families, besides those that the page loads by itself
TOO_MANY = (
    "{} was not loaded, because {} other families wait to be loaded. Try again in a few minutes, or choose a family "
    "that is ready."
)


@dataclass(frozen=True)
class FamilyChoice:
    """A family as a visitor asks for it."""

    spec: FamilySpec
    device: str = "auto"
    dtype: str = "auto"

    @property
    def defaults(self) -> Defaults:
        return defaults_for(self.spec, self.device)


@dataclass(frozen=True)
class FamilyStatus:
    """How far a family has come, with a sentence for the page; `family` is set once it is ready.

    A ready family may still be `compiling`: races run, and become faster.
    """

    state: Literal["waiting", "queued", "loading", "ready", "failed"]
    sentence: str
    family: Family | None = None
    compiling: bool = False

    @property
    def is_final(self) -> bool:
        return self.state in ("ready", "failed")

    @property
    def is_settled(self) -> bool:
        """Whether nothing about the family changes any more."""
        return self.is_final and not self.compiling


def not_loaded(choice: FamilyChoice) -> FamilyStatus:
    return FamilyStatus("waiting", f"{catalog.title(choice.spec.name)}: not loaded yet")


@dataclass(eq=False)
class Load:
    """One load of a family, who asked for it, and what became of it.

    A `patient` one waits until no race runs. `steps` are what is left to compile. Whoever waits for a load gets its
    family even if another load has pushed it out in the meantime.
    """

    choice: FamilyChoice
    status: FamilyStatus
    visitors: set[str] = field(default_factory=set)
    patient: bool = False
    steps: Iterator[CompileStep] | None = None


class Loads:
    """The loads that are queued, at work, or done. Those of `homes` stay; of all the others, only the latest.

    Not safe in threads: its owner holds a lock.
    """

    def __init__(self, homes: tuple[FamilyChoice, ...]):
        self._homes = homes
        self._by_choice: dict[FamilyChoice, Load] = {}

    def find(self, choice: FamilyChoice) -> Load | None:
        return self._by_choice.get(choice)

    def __iter__(self) -> Iterator[Load]:
        """Each once, in the order in which they were asked for."""
        return iter(tuple(dict.fromkeys(self._by_choice.values())))

    def ask(self, choice: FamilyChoice, visitor: str, patient: bool = False) -> Load:
        """The load of a family: the one that is there unless it failed, or a new one at the end of the queue.

        What the visitor asked for before is superseded. If too many wait, the load has failed and is not queued.
        """
        load = self.find(choice)
        if visitor:
            self.withdraw(visitor, load)
        if load is None or load.status.state == "failed":
            waiting = [one for one in self if one.status.state == "queued" and one.choice not in self._homes]
            if choice not in self._homes and len(waiting) >= MOST_WAITING:
                return Load(
                    choice, FamilyStatus("failed", TOO_MANY.format(catalog.title(choice.spec.name), len(waiting)))
                )
            self._by_choice.pop(choice, None)  # the end of the queue, also after a failure
            said = f"{catalog.title(choice.spec.name)}: waiting to load"
            load = self._by_choice[choice] = Load(choice, FamilyStatus("queued", said), patient=patient)
        load.patient &= patient
        load.visitors |= {visitor} - {""}
        return load

    def withdraw(self, visitor: str, kept: Load | None = None) -> None:
        """Drop the queued loads that only this visitor wants, except the one that is kept."""
        for load in self:
            if load is kept or visitor not in load.visitors:
                continue
            load.visitors.discard(visitor)
            if load.status.state == "queued" and not load.visitors and load.choice not in self._homes:
                load.status = not_loaded(load.choice)
                del self._by_choice[load.choice]

    def take(self, is_idle: bool) -> Load | None:
        """What to load now: the family of the page first, then what was asked for, and patient ones if no race runs.

        A family that does not stay pushes the one before it out.
        """
        queued = [load for load in self if load.status.state == "queued"]
        queued.sort(key=lambda load: (load.choice != self._homes[0], load.patient))
        if not queued or (queued[0].patient and not is_idle):
            return None
        load = queued[0]
        load.status = FamilyStatus("loading", f"{catalog.title(load.choice.spec.name)}: loading")
        if load.choice not in self._homes:
            kept = {load, *(one for one in self if one.choice in self._homes or one.status.state == "queued")}
            self._by_choice = {choice: one for choice, one in self._by_choice.items() if one in kept}
        return load

    def alias(self, choice: FamilyChoice, load: Load) -> None:
        """Find the load under a second choice as well, as long as it is there."""
        if self.find(load.choice) is load:
            self._by_choice[choice] = load

    def to_compile(self) -> Load | None:
        return next((load for load in self if load.steps is not None), None)
