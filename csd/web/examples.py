"""The example prompts of the page, by kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from csd.request.prompts import Prompt, example_prompts


@dataclass(frozen=True)
class Example:
    """An example prompt and its position among those of its kind, counted from 1."""

    prompt: Prompt
    number: int
    count: int


@cache
def examples_by_kind() -> dict[str, tuple[Prompt, ...]]:
    """In the order of the file."""
    prompts = example_prompts()
    kinds = dict.fromkeys(prompt.kind for prompt in prompts)
    return {kind: tuple(prompt for prompt in prompts if prompt.kind == kind) for kind in kinds}


def first_example() -> Prompt:
    """The prompt that the page starts with."""
    return next(iter(examples_by_kind().values()))[0]


def next_example(kind: str, text: str | None) -> Example:
    """The example of this kind after the one whose text is given; the first one after any other text."""
    prompts = examples_by_kind()[kind]
    current = next((i for i, prompt in enumerate(prompts) if prompt.prompt == text), -1)
    following = (current + 1) % len(prompts)
    return Example(prompts[following], following + 1, len(prompts))


def example_title(text: str) -> str:
    """The title of the example with this text; empty if it is not an example."""
    every = (prompt for prompts in examples_by_kind().values() for prompt in prompts)
    return next((prompt.title for prompt in every if prompt.prompt == text), "")
