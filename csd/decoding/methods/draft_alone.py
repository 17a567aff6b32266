"""A draft decoding by itself: fast, and another model. What speculation is compared with, never what it promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from csd.decoding.combinators import Vertical
from csd.decoding.draft import Nothing
from csd.decoding.methods.method import Knobs, LaneParts, Method, check_drafts


@dataclass(frozen=True)
class DraftAlone(Method):
    """`draft` writes every token and nobody reviews it. Not lossless: the text is the draft's, not the target's."""

    name: ClassVar[str] = "draft alone"
    formula: ClassVar[str] = "1 / c, with another model's text"
    uses: ClassVar[tuple[str, ...]] = ("draft",)

    draft: str

    @classmethod
    def from_knobs(cls, knobs: Knobs) -> DraftAlone:
        return cls(knobs.draft)

    @property
    def label(self) -> str:
        return self.draft

    def models(self) -> tuple[str, ...]:
        return (self.draft,)

    def check(self, drafts: Sequence[str]) -> None:
        check_drafts((self.draft,), drafts)

    def build(self, lane: LaneParts) -> Vertical:
        return Vertical(lane.sessions[self.draft], Nothing(), lane.rule)
