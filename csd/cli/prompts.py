"""The prompts that `bench` and `tune` run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from csd.models.catalog import FamilySpec
from csd.request.prompts import Prompt, example_prompts, read_prompts, select_prompts


def choose_prompts(
    spec: FamilySpec, file: Path | None, limit: int = 0, only: str = "", max_new: int | None = None
) -> list[Prompt]:
    """The prompts of a file, or the family's own examples, with at most `max_new` new tokens if it is given.

    `limit` and `only` select as in `select_prompts`. Raises Refusal.
    """
    prompts = select_prompts(read_prompts(file) if file else example_prompts(spec), limit, only)
    return [replace(prompt, max_new=max_new) for prompt in prompts] if max_new else prompts


def left_out_notes(long: Sequence[Prompt]) -> list[str]:
    """A sentence about the prompts that do not fit the target's context, if there are any."""
    return [f"Prompts left out because they are too long for the target: {len(long)}."] if long else []
