"""Reviews decided by the toss of a coin, and sessions that only count their forward passes, for tests of the theory."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import torch

from csd.decoding.acceptance import Acceptance, Decision
from csd.decoding.combinators import Horizontal, Vertical
from csd.decoding.draft import Draft, Drafter
from csd.decoding.tokens import TokenSequence

ROOM = 10**6


@dataclass
class Counter:
    """A session that computes nothing and counts its runs."""

    name: str
    context: int = ROOM
    runs: int = 0
    costs: tuple[float, ...] = ()
    choice: None = None

    def logits(self, sequence: TokenSequence, since: int) -> torch.Tensor:
        self.runs += 1
        return torch.zeros(len(sequence) - since + 1, 2)


@dataclass
class Bernoulli:
    """Accepts each token with the rate that its author has with this reviewer, each independently."""

    rates: dict[str, float]
    coin: object
    lenience: float = 1.0

    def launch(self, draft: Draft, logits: torch.Tensor, start: int, choice: None = None) -> Decision:
        accepted = 0
        while accepted < len(draft) and self.coin.flip(self.rates[draft.authors[accepted]]):
            accepted += 1
        return Decision(lambda: Acceptance(accepted, 1, 0.0))


@dataclass
class Seeded:
    random: random.Random

    def flip(self, rate: float) -> bool:
        return self.random.random() < rate


@dataclass
class Walked:
    """One path through all the flips; see `expected`."""

    path: tuple[bool, ...]
    others: list
    chance: float = 1.0
    taken: list[bool] = field(default_factory=list)

    def flip(self, rate: float) -> bool:
        if len(self.taken) < len(self.path):
            heads = self.path[len(self.taken)]
        else:
            heads = True
            self.others.append((*self.taken, False))
        self.taken.append(heads)
        self.chance *= rate if heads else 1 - rate
        return heads


@dataclass(frozen=True)
class Runs(Drafter):
    """A drafter run n times, as theorem 4.3 counts (a Horizontal counts tokens)."""

    drafter: Vertical
    n: int

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        out = Draft()
        for _ in range(self.n):
            out += self.drafter.draft(sequence + out.tokens, room - len(out))
        return out


def sessions(drafter) -> dict[str, int]:
    """How often each model of a tree ran."""
    found = {}
    if isinstance(drafter, Vertical):
        found = {drafter.session.name: drafter.session.runs} | sessions(drafter.drafter)
    elif isinstance(drafter, Horizontal):
        for inner, _ in drafter.stages:
            found |= sessions(inner)
    elif isinstance(drafter, Runs):
        found = sessions(drafter.drafter)
    return found
