"""The horizontal cascade alone: strong drafts write the early tokens of a block, weaker ones the late tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from csd.decoding.combinators import Vertical
from csd.decoding.errors import Refusal
from csd.decoding.maxgram import BIGRAM, MAX_GRAM
from csd.decoding.methods.cascade import build_cascade, cascade_models
from csd.decoding.methods.method import Knobs, LaneParts, Method, check_drafts
from csd.decoding.methods.vertical_cascade import check_ks
from csd.decoding.stages import Stage


@dataclass(frozen=True)
class HorizontalCascade(Method):
    """Every draft writes by itself, draft i up to position `ks[i]` (cumulative); the last of `ks` is Max-Gram's."""

    name: ClassVar[str] = "horizontal cascade"
    formula: ClassVar[str] = "(1 + α₁ + α₁α₂ + …) / (1 + c₁ + c₂ + …) over the positions of the block, theorem 4.5"
    leaves: ClassVar[tuple[str, ...]] = (MAX_GRAM, BIGRAM)
    uses: ClassVar[tuple[str, ...]] = ("K",)

    drafts: tuple[str, ...]
    ks: tuple[int, ...]

    @classmethod
    def from_knobs(cls, knobs: Knobs) -> HorizontalCascade:
        """The first row of K."""
        return cls(knobs.drafts, knobs.K[0])

    def to_knobs(self) -> dict[str, Any]:
        """K with this first row and no vertical part."""
        return {"K": (self.ks, *((0,) * len(self.ks) for _ in self.drafts))}

    @property
    def label(self) -> str:
        return f"k={','.join(map(str, self.ks))}"

    def models(self) -> tuple[str, ...]:
        return cascade_models(self.drafts, self.stages())

    def check(self, drafts: Sequence[str]) -> None:
        check_drafts(self.drafts, drafts)
        check_ks(self.ks, len(self.drafts))
        if list(self.ks) != sorted(self.ks):
            raise Refusal(f"The positions of a horizontal cascade must not decrease: {list(self.ks)}.")
        if not self.ks[-1]:
            raise Refusal("Every k is 0, so nothing would be drafted. Use autoregressive for that.")

    def stages(self) -> tuple[Stage, ...]:
        budgets = [k - before for before, k in zip((0, *self.ks), self.ks)]
        return tuple(Stage(name, k) for name, k in zip((*self.drafts, MAX_GRAM), budgets, strict=True) if k > 0)

    def build(self, lane: LaneParts) -> Vertical:
        return build_cascade(self.stages(), 1.0, lane)
