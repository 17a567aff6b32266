"""Cascade Speculative Drafting with the paper's matrix K, which joins the vertical and the horizontal cascade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from csd.decoding.combinators import Vertical
from csd.decoding.errors import check_number
from csd.decoding.k_matrix import Matrix, check_K, format_K, to_budgets
from csd.decoding.maxgram import BIGRAM, MAX_GRAM
from csd.decoding.methods.method import (
    TARGET,
    Knobs,
    LaneParts,
    Method,
    check_drafts,
    lenience_label,
)
from csd.decoding.stages import Stage, build_stages, cascade_stages
from csd.ranges import LENIENCE


@dataclass(frozen=True)
class Cascade(Method):
    """Algorithm 1: `drafts` from the strongest to the weakest, `K` cumulative as in the paper, Max-Gram at the end.

    Inner reviewers accept with `lenience`; the target is always strict.
    """

    name: ClassVar[str] = "cascade"
    formula: ClassVar[str] = "no closed form for this K: theorems 4.3 and 4.5 joined by following the tree"
    leaves: ClassVar[tuple[str, ...]] = (MAX_GRAM, BIGRAM)
    uses: ClassVar[tuple[str, ...]] = ("K", "lenience")

    drafts: tuple[str, ...]
    K: Matrix
    lenience: float = 1.0

    @classmethod
    def from_knobs(cls, knobs: Knobs) -> Cascade:
        return cls(knobs.drafts, knobs.K, knobs.lenience)

    @property
    def label(self) -> str:
        return f"K={format_K(self.K)}{lenience_label(self.lenience)}"

    def models(self) -> tuple[str, ...]:
        return cascade_models(self.drafts, self.stages())

    def check(self, drafts: Sequence[str]) -> None:
        check_drafts(self.drafts, drafts)
        check_K(self.K, len(self.drafts))
        check_number(LENIENCE, self.lenience)

    def stages(self) -> tuple[Stage, ...]:
        return cascade_stages(self.drafts, to_budgets(self.K))

    def build(self, lane: LaneParts) -> Vertical:
        return build_cascade(self.stages(), self.lenience, lane)


def cascade_models(drafts: Sequence[str], stages: Sequence[Stage]) -> tuple[str, ...]:
    """The models of a plan, weakest first. A draft that has no tokens to write is not run."""
    used = frozenset().union(*(stage.names() for stage in stages))
    return (*(name for name in reversed(drafts) if name in used), TARGET)


def build_cascade(stages: Sequence[Stage], lenience: float, lane: LaneParts) -> Vertical:
    """The target reviewing the plan, strictly; the levels below it review with `lenience`."""
    inner = lane.rule.with_lenience(lenience)
    return Vertical(lane.target, build_stages(stages, lane.sessions, lane.max_gram(), inner), lane.rule)
