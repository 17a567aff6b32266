"""Prompt files: the project's own JSON, GSM8K, Spec-Bench, JSON lines or plain text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from csd.decoding.k_matrix import Matrix, format_K
from csd.decoding.methods import Method, Refusal
from csd.models.spec import FamilySpec
from csd.paths import ROOT
from csd.ranges import DRAFTED, MAX_NEW, SEED, TEMPERATURE
from csd.record.untrusted import describe_fault
from csd.request.request import Request

if TYPE_CHECKING:
    from csd.models.family import Family

FORMATS = (
    "a JSON list of objects with a prompt, JSON lines with a prompt, with question and answer (GSM8K), with question "
    "and four choices (MMLU) or with category and turns (Spec-Bench), one JSON string a line, or a plain prompt a line"
)


@dataclass(frozen=True)
class Wording:
    """How a question of GSM8K and one of MMLU, with choices A to D, become a prompt, and how long answers may be."""

    question: str
    choices: str
    max_new: int


PLAIN = Wording("Question: {}\nAnswer:", "Question: {}\n(A) {} (B) {} (C) {} (D) {}\nAnswer:", 128)


@dataclass(frozen=True)
class Prompt:
    """A prompt, its kind (story, code, ...), and how it is decoded: greedily, or by coupled sampling with this seed.

    `k` is the draft length that suits speculative decoding best on this text, and `K` (cumulative) a plan that suits
    the cascade, where they are far from the family's.
    """

    kind: Annotated[str, Field(min_length=1)]
    prompt: Annotated[str, Field(pattern=r"\S")]
    title: str = ""
    temperature: Annotated[float, Field(strict=True, ge=0, le=TEMPERATURE.high, allow_inf_nan=False)] = 0.0
    seed: Annotated[int, Field(strict=True, ge=SEED.low, le=SEED.high)] = 0
    max_new: Annotated[int, Field(strict=True, ge=MAX_NEW.low, le=MAX_NEW.high)] = 128
    k: Annotated[int, Field(strict=True, ge=DRAFTED.low, le=DRAFTED.high)] | None = None
    K: Matrix | None = None

    @property
    def name(self) -> str:
        """Its title, or how it begins, in one line."""
        return self.title or " ".join(self.prompt.split())[:60]

    def settings(self) -> dict[str, Any]:
        """The settings of methods that suit it, by the name of their field in the form."""
        return {**({"k": self.k} if self.k else {}), **({"K": format_K(self.K)} if self.K else {})}

    def to_request(self, methods: Sequence[Method]) -> Request:
        """The race of these methods on this prompt."""
        return Request(self.prompt, tuple(methods), self.max_new, temperature=self.temperature, seed=self.seed)


def example_prompts(spec: FamilySpec) -> list[Prompt]:
    """The examples that come with the project for this family."""
    return read_prompts(ROOT / spec.prompts)


def read_prompts(path: Path, wording: Wording = PLAIN) -> list[Prompt]:
    """The prompts of a file; the format of each is recognized by its fields. `wording` is that of GSM8K and MMLU.

    Raises Refusal for a file that cannot be read or contains no prompt.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Refusal(f"The prompts {path} cannot be read: {error.strerror}.") from error
    except UnicodeError as error:
        raise Refusal(f"The prompts {path} are not UTF-8 text. Save the file as UTF-8.") from error
    rows = _split_rows(text, path)
    prompts = [_read_row(row, number, path, wording) for number, row in enumerate(rows, 1)]
    if not prompts:
        raise Refusal(f"{path} contains no prompt. It can be {FORMATS}.")
    return prompts


def select_prompts(prompts: Sequence[Prompt], limit: int = 0, only: str = "") -> list[Prompt]:
    """At most `limit` prompts of each kind (0: all), evenly spaced over the file and in its order.

    `only` keeps a single kind. Raises Refusal where there is no prompt of that kind.
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


def split_by_spelling(family: Family, prompts: Iterable[Prompt]) -> tuple[list[Prompt], list[Prompt]]:
    """(the prompts that the family's vocabulary can spell, those with characters that it does not have)."""
    spelled: list[Prompt] = []
    other: list[Prompt] = []
    for prompt in prompts:
        (other if family.unspelled(prompt.prompt) else spelled).append(prompt)
    return spelled, other


def _split_rows(text: str, path: Path) -> list[Any]:
    """The entries of a JSON list or of JSON lines; of any other file, its lines that are not blank."""
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Refusal(f"{path} starts like a JSON list but is not one: {error}.") from error
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


def _read_row(row: Any, number: int, path: Path, wording: Wording) -> Prompt:
    match row:
        case str():
            fields = {"prompt": row}
        case {"category": kind, "turns": [first, *_]}:
            fields = {"kind": kind, "prompt": first}
        case {"question": str(question), "choices": [a, b, c, d]}:
            fields = _mmlu(wording, question, a, b, c, d)
        case {"input": str(question), "A": a, "B": b, "C": c, "D": d}:
            fields = _mmlu(wording, question, a, b, c, d)
        case {"question": str(question), "answer": _}:
            prompt = wording.question.format(question)
            fields = {"kind": "gsm8k", "prompt": prompt, "max_new": wording.max_new}
        case dict():
            fields = row
        case _:
            fields = {}
    try:
        return TypeAdapter(Prompt).validate_python({"kind": "text", **fields})
    except ValidationError as error:
        reason = describe_fault(error.errors()[0])
        raise Refusal(
            f"Prompt {number} of {path} cannot be read ({reason}). A prompt file can be {FORMATS}."
        ) from error


def _mmlu(wording: Wording, *parts: Any) -> dict[str, Any]:
    return {"kind": "mmlu", "prompt": wording.choices.format(*parts), "max_new": wording.max_new}
