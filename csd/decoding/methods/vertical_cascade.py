"""The vertical cascade alone: every draft reviews what the next smaller one drafted, down to Max-Gram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from csd.decoding.combinators import Vertical
from csd.decoding.errors import Refusal, check_number
from csd.decoding.k_matrix import Matrix
from csd.decoding.maxgram import BIGRAM, MAX_GRAM
from csd.decoding.methods.cascade import build_cascade, cascade_models
from csd.decoding.methods.method import Knobs, LaneParts, Method, check_drafts, lenience_label
from csd.decoding.stages import Stage
from csd.ranges import ENTRY, LENIENCE, LONGEST_DRAFT


@dataclass(frozen=True)
class VerticalCascade(Method):
    """Draft i hands `ks[i]` tokens to the reviewer above it, the last of `ks` is Max-Gram's; 0 skips a level."""

    name: ClassVar[str] = "vertical cascade"
    formula: ClassVar[str] = (
        "(1 − α φ(α)^n) / ((1 − α) (1 + n c₁ + n k c₂)), theorem 4.3; K counts tokens, so n is not fixed"
    )
    leaves: ClassVar[tuple[str, ...]] = (MAX_GRAM, BIGRAM)
    uses: ClassVar[tuple[str, ...]] = ("K", "lenience")

    drafts: tuple[str, ...]
    ks: tuple[int, ...]
    lenience: float = 1.0

    @classmethod
    def from_knobs(cls, knobs: Knobs) -> VerticalCascade:
        """K without its zones: each reviewer at work keeps the strongest drafter that it asks, and its tokens."""
        return cls(knobs.drafts, vertical_ks(knobs.K), knobs.lenience)

    def to_knobs(self) -> dict[str, Any]:
        """K in which each level at work asks one other, and the rest nobody."""
        n = len(self.ks)
        K, reviewer = [(0,) * n for _ in range(n)], 0
        for level, k in enumerate(self.ks):
            if k:
                K[reviewer] = (0,) * level + (k,) * (n - level)
                reviewer = level + 1
        return {"K": tuple(K), "lenience": self.lenience}

    @property
    def label(self) -> str:
        return f"k={','.join(map(str, self.ks))}{lenience_label(self.lenience)}"

    def models(self) -> tuple[str, ...]:
        return cascade_models(self.drafts, self.stages())

    def check(self, drafts: Sequence[str]) -> None:
        check_drafts(self.drafts, drafts)
        check_ks(self.ks, len(self.drafts))
        check_number(LENIENCE, self.lenience)
        if not any(self.ks):
            raise Refusal("Every k is 0, so nothing would be drafted. Use autoregressive for that.")

    def stages(self) -> tuple[Stage, ...]:
        below: tuple[Stage, ...] = ()
        for name, k in reversed(tuple(zip((*self.drafts, MAX_GRAM), self.ks, strict=True))):
            below = (Stage(name, k, below),) if k > 0 else below
        return below

    def build(self, lane: LaneParts) -> Vertical:
        return build_cascade(self.stages(), self.lenience, lane)


def vertical_ks(K: Matrix) -> tuple[int, ...]:
    """Down from the target: the first drafter of each reviewer's row, and then that drafter's own row."""
    ks, reviewer = [0] * len(K), 0
    while reviewer < len(K) and any(K[reviewer]):
        drafter = next(column for column, end in enumerate(K[reviewer]) if end)
        ks[drafter], reviewer = K[reviewer][drafter], drafter + 1
    return tuple(ks)


def check_ks(ks: Sequence[int], drafts: int) -> None:
    """Refuse anything but one whole number per draft and one for Max-Gram."""
    if len(ks) != drafts + 1 or not all(k in ENTRY for k in ks):
        raise Refusal(f"Give {drafts + 1} whole numbers from 0 to {LONGEST_DRAFT}: one per draft and one for Max-Gram.")
