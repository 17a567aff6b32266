"""Speculative decoding: one draft model, one draft length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from csd.decoding.chain import drafting_alone
from csd.decoding.combinators import Horizontal, Vertical
from csd.decoding.errors import check_number
from csd.decoding.methods.method import TARGET, Knobs, LaneParts, Method, check_drafts
from csd.decoding.stages import Stage
from csd.ranges import DRAFTED


@dataclass(frozen=True)
class Speculative(Method):
    """`draft` writes `k` tokens one by one; the target verifies them in one pass (Leviathan et al., Algorithm 1)."""

    name: ClassVar[str] = "speculative"
    formula: ClassVar[str] = "(1 − α^(k+1)) / ((1 − α) (1 + c k))"
    uses: ClassVar[tuple[str, ...]] = ("draft", "k")

    draft: str
    k: int

    @classmethod
    def from_knobs(cls, knobs: Knobs) -> Speculative:
        return cls(knobs.draft, knobs.k)

    @property
    def label(self) -> str:
        return f"{self.draft}, k={self.k}"

    def models(self) -> tuple[str, ...]:
        return (self.draft, TARGET)

    def check(self, drafts: Sequence[str]) -> None:
        check_drafts((self.draft,), drafts)
        check_number(DRAFTED, self.k)

    def stages(self) -> tuple[Stage, ...]:
        return (Stage(self.draft, self.k),)

    def build(self, lane: LaneParts) -> Vertical:
        draft = drafting_alone(lane.sessions[self.draft], lane.rule)
        return Vertical(lane.target, Horizontal(((draft, self.k),)), lane.rule)
