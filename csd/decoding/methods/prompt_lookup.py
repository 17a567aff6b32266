"""Prompt lookup: Max-Gram alone drafts, so a draft costs almost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from csd.decoding.combinators import Vertical
from csd.decoding.errors import check_number
from csd.decoding.maxgram import BIGRAM, MAX_GRAM
from csd.decoding.methods.method import Knobs, LaneParts, Method
from csd.decoding.stages import Stage
from csd.ranges import DRAFTED


@dataclass(frozen=True)
class PromptLookup(Method):
    """Up to `k` tokens are copied from the text so far; the target verifies them in one pass."""

    name: ClassVar[str] = "prompt lookup"
    formula: ClassVar[str] = "(1 − α^(k+1)) / ((1 − α) (1 + c k)), with the c of a copied token"
    leaves: ClassVar[tuple[str, ...]] = (MAX_GRAM, BIGRAM)
    uses: ClassVar[tuple[str, ...]] = ("lookup",)

    k: int

    @classmethod
    def from_knobs(cls, knobs: Knobs) -> PromptLookup:
        return cls(knobs.lookup)

    def to_knobs(self) -> dict[str, Any]:
        return {"lookup": self.k}

    @property
    def label(self) -> str:
        return f"k={self.k}"

    def check(self, drafts: Sequence[str]) -> None:
        check_number(DRAFTED, self.k)

    def stages(self) -> tuple[Stage, ...]:
        return (Stage(MAX_GRAM, self.k),)

    def build(self, lane: LaneParts) -> Vertical:
        return Vertical(lane.target, lane.max_gram(self.k), lane.rule)
