"""Prompt files: the project's own, GSM8K, Spec-Bench, JSON lines or plain text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from csd.decoding.errors import Refusal
from csd.paths import ASSETS

if TYPE_CHECKING:
    from csd.models.family import Family

FORMATS = (
    "a JSON list of objects with a prompt, JSON lines with a prompt, with question and answer (GSM8K) or with category "
    "and turns (Spec-Bench), one JSON string a line, or one plain prompt a line"
)


@dataclass(frozen=True)
class Prompt:
    """A prompt, its kind (story, code, ...), and how it is decoded: greedily, or by coupled sampling with this seed."""

    kind: str
    prompt: str
    title: str = ""
    temperature: float = 0.0
    seed: int = 0
    max_new: int = 128

    @property
    def name(self) -> str:
        """Its title, or how it begins, in one line."""
        return self.title or " ".join(self.prompt.split())[:60]


def example_prompts() -> list[Prompt]:
    """The examples of the page."""
    return read_prompts(ASSETS / "prompts.json")


def read_prompts(path: Path) -> list[Prompt]:
    """The prompts of a file, told apart by their fields. Raises Refusal for a file that holds none."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Refusal(f"The prompts {path} cannot be read: {error.strerror}.") from error
    except UnicodeError as error:
        raise Refusal(f"The prompts {path} are not UTF-8 text. Save the file as UTF-8.") from error
    rows = _rows(text, path)
    prompts = [_prompt(row, number, path) for number, row in enumerate(rows, 1)]
    if not prompts:
        raise Refusal(f"{path} contains no prompt. It can be {FORMATS}.")
    return prompts


def select_prompts(prompts: Sequence[Prompt], limit: int = 0, only: str = "") -> list[Prompt]:
    """At most `limit` prompts of each kind (0: all), evenly spaced over the file, in its order; `only` one kind.

    Raises Refusal where no prompt is of the kind.
    """
    kinds = list(dict.fromkeys(prompt.kind for prompt in prompts))
    if only and only not in kinds:
        raise Refusal(f"There is no prompt of the kind {only!r}. Choose one of: {', '.join(kinds)}.")
    kept: set[int] = set()
    for kind in [only] if only else kinds:
        positions = [i for i, prompt in enumerate(prompts) if prompt.kind == kind]
        count = min(limit, len(positions)) if limit else len(positions)
        kept.update(positions[i * len(positions) // count] for i in range(count))
    return [prompts[i] for i in sorted(kept)]


def split_by_context(family: Family, prompts: Iterable[Prompt]) -> tuple[list[Prompt], list[Prompt]]:
    """(the prompts that fit the target's context with their new tokens, those that are too long)."""
    short: list[Prompt] = []
    long: list[Prompt] = []
    for prompt in prompts:
        fits = len(family.encode(prompt.prompt)) + prompt.max_new <= family.context
        (short if fits else long).append(prompt)
    return short, long


def _rows(text: str, path: Path) -> list[Any]:
    """The file's entries: of a JSON list, of JSON lines, or its lines."""
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Refusal(f"{path} begins like a JSON list but is not one: {error}.") from error
        return found
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines or lines[0][1].lstrip()[0] not in '{"':
        return [line for _, line in lines]
    rows = []
    for number, line in lines:
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise Refusal(f"Line {number} of {path} is not JSON: {error}.") from error
    return rows


def _prompt(row: Any, number: int, path: Path) -> Prompt:
    try:
        prompt = _read(row)
    except (KeyError, TypeError, IndexError, AttributeError):
        prompt = None
    if prompt is None or not prompt.prompt.strip() or not prompt.kind:
        raise Refusal(f"Prompt {number} of {path} cannot be read. A file of prompts can be {FORMATS}.")
    return prompt


def _read(row: Any) -> Prompt | None:
    if isinstance(row, str):
        return Prompt("text", row)
    if "turns" in row:
        return Prompt(str(row["category"]), _text(row["turns"][0]))
    if "question" in row and "answer" in row:
        return Prompt("gsm8k", f"Question: {_text(row['question'])}\nAnswer:")
    values = {field.name: row[field.name] for field in fields(Prompt) if field.name in row}
    _text(values["prompt"])
    whole = all(type(values.get(name, 1)) is int for name in ("seed", "max_new")) and values.get("max_new", 1) > 0
    number = isinstance(values.get("temperature", 0), (int, float)) and values.get("temperature", 0) >= 0
    return Prompt(**{"kind": "text", **values}) if whole and number else None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
