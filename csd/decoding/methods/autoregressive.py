"""Autoregressive decoding: one forward pass of the target per token. The reference of every race."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from csd.decoding.combinators import Vertical
from csd.decoding.draft import Nothing
from csd.decoding.methods.method import LaneParts, Method
from csd.decoding.stages import Stage


@dataclass(frozen=True)
class Autoregressive(Method):
    """The target reviews an empty draft: it writes every token itself."""

    name: ClassVar[str] = "autoregressive"
    formula: ClassVar[str] = "1: every token takes one target pass"

    def stages(self) -> tuple[Stage, ...]:
        return ()

    def build(self, lane: LaneParts) -> Vertical:
        return Vertical(lane.target, Nothing(), lane.rule)
