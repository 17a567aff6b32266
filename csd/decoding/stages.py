"""The plan of a draft block: which level writes how many tokens, and whose proposals it reviews while it does.

A plan is plain data. `build_stages` turns it into drafters over a lane's sessions, and `csd.theory` predicts its speed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from csd.decoding.chain import drafting_alone
from csd.decoding.combinators import Horizontal, Vertical
from csd.decoding.draft import Drafter
from csd.decoding.k_matrix import Budgets
from csd.decoding.maxgram import MAX_GRAM
from csd.decoding.session import Session

if TYPE_CHECKING:
    from csd.decoding.acceptance import AcceptanceRule


@dataclass(frozen=True)
class Stage:
    """`name` writes until `k` more tokens are there; each of its rounds reviews what the stages `below` draft."""

    name: str
    k: int
    below: tuple[Stage, ...] = ()

    def names(self) -> frozenset[str]:
        """Every level that takes part."""
        return frozenset({self.name}).union(*(stage.names() for stage in self.below))


def most_rounds(stages: Sequence[Stage]) -> int:
    """How many rounds a block takes at most, those of all levels together: each round brings one token or more."""
    return sum(stage.k * (1 + most_rounds(stage.below)) for stage in stages)


def model_rounds(stages: Sequence[Stage]) -> int:
    """How many of these rounds a draft model runs in: Max-Gram only copies, which costs next to nothing."""
    return sum(stage.k * (1 + model_rounds(stage.below)) for stage in stages if stage.name != MAX_GRAM)


def cascade_stages(drafts: Sequence[str], budgets: Budgets) -> tuple[Stage, ...]:
    """Algorithm 1 as a plan: stage i of row 0 is draft i reviewing the cascade of budgets[i+1:, i+1:], Max-Gram last.

    A stage without tokens is left out, with everything below it.
    """
    if not budgets:
        return ()
    names = (*drafts, MAX_GRAM)
    return tuple(
        Stage(name, k, cascade_stages(drafts[i + 1 :], tuple(row[i + 1 :] for row in budgets[i + 1 :])))
        for i, (name, k) in enumerate(zip(names, budgets[0], strict=True))
        if k > 0
    )


def build_stages(
    stages: Sequence[Stage], sessions: Mapping[str, Session], leaf: Drafter, rule: AcceptanceRule
) -> Horizontal:
    """The drafter of a plan: `leaf` is Max-Gram, `rule` that of the inner reviewers."""

    def drafter(stage: Stage) -> Drafter:
        if stage.name == MAX_GRAM:
            return leaf
        if not stage.below:
            return drafting_alone(sessions[stage.name], rule)
        return Vertical(sessions[stage.name], build_stages(stage.below, sessions, leaf, rule), rule)

    return Horizontal(tuple((drafter(stage), stage.k) for stage in stages))
