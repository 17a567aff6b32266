"""The vertical cascade alone: every draft reviews what the next smaller one drafted, down to Max-Gram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from csd.decoding.combinators import Vertical
from csd.decoding.errors import Refusal, check_number
from csd.decoding.maxgram import BIGRAM, MAX_GRAM
from csd.decoding.methods.cascade import build_cascade, cascade_models
from csd.decoding.methods.method import Knobs, LaneParts, Method, check_drafts, lenience_label
from csd.decoding.stages import Stage
from csd.ranges import ENTRY, LENIENCE, LONGEST_DRAFT


@dataclass(frozen=True)
class VerticalCascade(Method):
    """Draft i hands `ks[i]` tokens to the reviewer above it; the last of `ks` is Max-Gram's."""

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
        """The diagonal of K: how much each level drafts for the one directly above it."""
        return cls(knobs.drafts, tuple(row[i] for i, row in enumerate(knobs.K)), knobs.lenience)

    def to_knobs(self) -> dict[str, Any]:
        """K with this diagonal and no horizontal part."""
        K = tuple((0,) * i + (k,) * (len(self.ks) - i) for i, k in enumerate(self.ks))
        return {"K": K, "lenience": self.lenience}

    @property
    def label(self) -> str:
        return f"k={','.join(map(str, self.ks))}{lenience_label(self.lenience)}"

    def models(self) -> tuple[str, ...]:
        return cascade_models(self.drafts, self.stages())

    def check(self, drafts: Sequence[str]) -> None:
        check_drafts(self.drafts, drafts)
        check_ks(self.ks, len(self.drafts))
        check_number(LENIENCE, self.lenience)
        if not self.ks[0]:
            raise Refusal("The first k is 0, so nothing would be drafted. Use autoregressive for that.")

    def stages(self) -> tuple[Stage, ...]:
        below: tuple[Stage, ...] = ()
        for name, k in reversed(tuple(zip((*self.drafts, MAX_GRAM), self.ks, strict=True))):
            below = (Stage(name, k, below),) if k > 0 else ()
        return below

    def build(self, lane: LaneParts) -> Vertical:
        return build_cascade(self.stages(), self.lenience, lane)


def check_ks(ks: Sequence[int], drafts: int) -> None:
    """Refuse anything but one whole number per draft and one for Max-Gram."""
    if len(ks) != drafts + 1 or not all(k in ENTRY for k in ks):
        raise Refusal(f"Give {drafts + 1} whole numbers from 0 to {LONGEST_DRAFT}: one per draft and one for Max-Gram.")
