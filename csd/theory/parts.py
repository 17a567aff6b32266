"""The two halves of a plan K, each without the other; and where a half is all that the plan has."""

from __future__ import annotations

from collections.abc import Sequence

from csd.decoding.k_matrix import Matrix
from csd.decoding.methods import Autoregressive, Cascade, HorizontalCascade, Knobs, VerticalCascade

PARTS = tuple(method.name for method in (Autoregressive, VerticalCascade, HorizontalCascade, Cascade))
ONE_ZONE = "vertical alone is the whole plan: each reviewer asks one level"
NO_HELP = "horizontal alone is the whole plan: every level writes without help"
NO_PARTS = "This plan has no halves: one level writes alone, without help."


def whole_halves(drafts: Sequence[str], K: Matrix) -> dict[str, str]:
    """The halves of a checked K that are the plan itself, by the name of their method, each with the reason."""
    knobs = Knobs(tuple(drafts), K=K)
    whole = Cascade(knobs.drafts, K).stages()
    halves = ((VerticalCascade, ONE_ZONE), (HorizontalCascade, NO_HELP))
    return {half.name: why for half, why in halves if half.from_knobs(knobs).stages() == whole}


def lanes_of_parts(drafts: Sequence[str], K: Matrix) -> tuple[str, ...]:
    """The lanes of a race of the parts: no plan runs twice."""
    whole = whole_halves(drafts, K)
    return tuple(name for name in PARTS if name not in whole)


def parts_in_words(drafts: Sequence[str], K: Matrix) -> str:
    """What a race of the parts compares."""
    whole = whole_halves(drafts, K)
    if len(whole) > 1:
        return NO_PARTS
    parts = [f"{part} only" for part in ("vertical", "horizontal") if f"{part} cascade" not in whole]
    return "".join([", ".join([*parts, "both"]), *(f"; {why}" for why in whole.values())])
