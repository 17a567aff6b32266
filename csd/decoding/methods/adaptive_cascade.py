"""The adaptive cascade: no K; each block is as long as one more token is worth its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from csd.decoding.adaptive.policy import adaptive_drafter
from csd.decoding.adaptive.prior import GENERAL, Prior, check_prior
from csd.decoding.combinators import Vertical
from csd.decoding.errors import check_number
from csd.decoding.maxgram import BIGRAM, MAX_GRAM
from csd.decoding.methods.method import (
    TARGET,
    Knobs,
    LaneParts,
    Method,
    check_drafts,
    lenience_label,
)
from csd.ranges import LENIENCE


@dataclass(frozen=True)
class AdaptiveCascade(Method):
    """All `drafts` and Max-Gram, each where it pays; `prior` is what is expected of them before a text begins."""

    name: ClassVar[str] = "adaptive cascade"
    formula: ClassVar[str] = "no closed form: the length of each block follows the text"
    leaves: ClassVar[tuple[str, ...]] = (MAX_GRAM, BIGRAM)
    uses: ClassVar[tuple[str, ...]] = ("lenience",)

    drafts: tuple[str, ...]
    lenience: float = 1.0
    prior: Prior = field(default=GENERAL, hash=False)

    @classmethod
    def from_knobs(cls, knobs: Knobs) -> AdaptiveCascade:
        return cls(knobs.drafts, knobs.lenience, knobs.prior)

    @property
    def label(self) -> str:
        return f"{' over '.join((*self.drafts, 'Max-Gram'))}{lenience_label(self.lenience)}"

    def models(self) -> tuple[str, ...]:
        return (*reversed(self.drafts), TARGET)

    def check(self, drafts: Sequence[str]) -> None:
        check_drafts(self.drafts, drafts)
        check_number(LENIENCE, self.lenience)
        check_prior(self.prior)

    def build(self, lane: LaneParts) -> Vertical:
        inner = lane.rule.with_lenience(self.lenience)
        drafts = [lane.sessions[name] for name in self.drafts]
        return Vertical(
            lane.target, adaptive_drafter(lane.target, drafts, lane.max_gram(), self.prior, inner), lane.rule
        )
