"""The prompts that `bench` and `tune` run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from csd.models.spec import FamilySpec
from csd.request.prompts import (
    PLAIN,
    Prompt,
    Wording,
    example_prompts,
    read_prompts,
    select_prompts,
    split_by_context,
    split_by_spelling,
)

if TYPE_CHECKING:
    from csd.models.family import Family


def choose_prompts(
    spec: FamilySpec,
    file: Path | None,
    limit: int = 0,
    only: str = "",
    max_new: int | None = None,
    wording: Wording = PLAIN,
) -> list[Prompt]:
    """The prompts of a file, or the family's own examples, with at most `max_new` new tokens if it is given.

    `limit` and `only` select as in `select_prompts`, `wording` is that of questions. Raises Refusal.
    """
    prompts = select_prompts(read_prompts(file, wording) if file else example_prompts(spec), limit, only)
    return [replace(prompt, max_new=max_new) for prompt in prompts] if max_new else prompts


def runnable_prompts(family: Family, prompts: Sequence[Prompt]) -> tuple[list[Prompt], list[str]]:
    """The prompts that a family can run, and sentences about those that are left out."""
    spelled, other = split_by_spelling(family, prompts)
    short, long = split_by_context(family, spelled)
    reasons = {"have characters that the vocabulary does not have": other, "are too long for the target": long}
    return short, [f"Prompts left out because they {why}: {len(some)}." for why, some in reasons.items() if some]
