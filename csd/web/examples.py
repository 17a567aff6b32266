"""The example prompts of a family, by kind."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from csd.decoding.errors import Refusal
from csd.decoding.k_matrix import Matrix
from csd.models.catalog import READY
from csd.models.spec import FamilySpec
from csd.paths import ROOT
from csd.request.prompts import Prompt, read_prompts
from csd.web.loads import FamilyChoice

FIELDS = ("prompt", "temperature", "seed", "max_new")  # of the form, that an example fills in
MOST_KINDS = 10  # of a family's examples that the page has buttons for
INSTEAD = Prompt("text", "Once upon a time")  # where the file of the examples cannot be read

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Example:
    """An example prompt and its position among those of its kind, counted from 1."""

    prompt: Prompt
    number: int
    count: int


def examples_by_kind(spec: FamilySpec) -> dict[str, tuple[Prompt, ...]]:
    """In the order of the family's file."""
    return _read_kinds(spec.prompts)


def example_kinds(spec: FamilySpec) -> tuple[str, ...]:
    """The kinds of a family's examples, at most MOST_KINDS."""
    return tuple(examples_by_kind(spec))[:MOST_KINDS]


def first_example(spec: FamilySpec) -> Prompt:
    """The prompt that the page starts with."""
    return next(iter(examples_by_kind(spec).values()))[0]


def next_example(spec: FamilySpec, kind: str, text: str | None) -> Example:
    """The example of this kind after the one whose text is given; the first one after any other text."""
    prompts = examples_by_kind(spec)[kind]
    current = next((i for i, prompt in enumerate(prompts) if prompt.prompt == text), -1)
    following = (current + 1) % len(prompts)
    return Example(prompts[following], following + 1, len(prompts))


def settings_for(choice: FamilyChoice, example: Prompt | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """What becomes of k and K, a form's `given` values, for an example or for a prompt that is none: the example's own,
    otherwise the family's. A value that is neither the family's nor an example's stays."""
    usual, own = choice.defaults.preset.fields(), example.settings() if example else {}
    if example and example.K and len(example.K) != len(choice.defaults.drafts) + 1:
        del own["K"]  # a plan for other drafts
    free = [name for name in ("k", "K") if _is_free(choice.spec, name, given.get(name), usual[name])]
    wanted = {name: own.get(name, usual[name]) for name in free}
    return {name: value for name, value in wanted.items() if value != given.get(name)}


def _is_free(spec: FamilySpec, name: str, value: Any, usual: Any) -> bool:
    return value is None or value == usual or is_brought(spec, name, value)


def plan_of_text(choice: FamilyChoice, text: str | None) -> Matrix | None:
    """The plan that was tuned to this text, where it is an example that brings one for the family's drafts."""
    example = find_example(choice.spec, text or "")
    is_fitting = example and example.K and len(example.K) == len(choice.defaults.drafts) + 1
    return example.K if example and is_fitting else None


def find_example(spec: FamilySpec, text: str) -> Prompt | None:
    """The family's example with this text."""
    prompts = (prompt for kind in examples_by_kind(spec).values() for prompt in kind)
    return next((prompt for prompt in prompts if prompt.prompt == text), None)


def is_brought(spec: FamilySpec, name: str, value: Any) -> bool:
    """Whether one of the family's examples brings this value: of one of FIELDS, of k, or of K as text."""
    brought = (_value(prompt, name) for prompts in examples_by_kind(spec).values() for prompt in prompts)
    return any(own is not None and own == value for own in brought)


def _value(prompt: Prompt, name: str) -> Any:
    return getattr(prompt, name) if name in FIELDS else prompt.settings().get(name)


def example_title(text: str) -> str:
    """The title of the example with this text, whichever ready family it belongs to; empty if it is not an example."""
    return next((prompt.title for prompt in _every_example() if prompt.prompt == text), "")


def is_example(text: str) -> bool:
    """Whether a ready family has this prompt among its examples."""
    return any(prompt.prompt == text for prompt in _every_example())


def _every_example() -> Iterator[Prompt]:
    files = dict.fromkeys(spec.prompts for spec in READY)
    return (prompt for file in files for prompts in _read_kinds(file).values() for prompt in prompts)


def find_fault(spec: FamilySpec) -> str:
    """What is wrong with the file of a family's examples; empty if nothing is."""
    return _read_file(spec.prompts)[1]


@cache
def _read_file(file: str) -> tuple[list[Prompt], str]:
    """The prompts, or one in their place and a sentence on what is wrong with the file."""
    try:
        return read_prompts(ROOT / file), ""
    except Refusal as error:
        fault = f"The examples cannot be read. {error}".replace(f"{ROOT}/", "")
        log.warning(fault)
        return [INSTEAD], fault


@cache
def _read_kinds(file: str) -> dict[str, tuple[Prompt, ...]]:
    prompts, _ = _read_file(file)
    kinds = dict.fromkeys(prompt.kind for prompt in prompts)
    return {kind: tuple(prompt for prompt in prompts if prompt.kind == kind) for kind in kinds}
