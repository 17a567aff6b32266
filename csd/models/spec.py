"""What a model family is: a target and its drafts, as values. Imports no torch.

A family is a target and its drafts, strongest first, with one shared tokenizer. `custom` makes one from any Hub IDs,
folders or GGUF files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from csd.paths import local_path
from csd.ranges import LONGEST_ID, MOST_DRAFTS, shorten

COPIES = {"self-8bit": 8, "self-4bit": 4}  # drafts that any target can have: copies of itself, and their bits
RESERVED = ("target", "MaxGram", "Bigram", "self-8bit", "self-4bit")  # level names that a draft cannot have
QUESTIONS = "assets/questions.json"  # the example prompts of families that answer questions


class FamilyError(ValueError):
    """A family cannot be loaded; the message tells the user why and what to do."""


@dataclass(frozen=True)
class ModelSpec:
    """One model: the name of its level, its Hub ID, folder or GGUF file, and what is known about its size.

    `parameters` counts weights (tied ones once), `cache` the numbers that one token takes in the KV cache
    (2 x layers x key-value heads x head size), `context` the tokens that the model can read; 0 if unknown. `bits` is 8
    or 4 for a copy of the family's target with weights quantised to so many bits, and 0 for a model of its own.
    `package` is a Python package that contains a GGUF file of the model, for machines without the Hub's files.
    """

    name: str
    id: str
    revision: str = "main"
    dtype: str = "auto"
    parameters: int = 0
    cache: int = 0
    context: int = 0
    bits: int = 0
    package: str = ""

    def dtype_or(self, default: str) -> str:
        """The model's own dtype, or `default` if it is "auto"."""
        return default if self.dtype == "auto" else self.dtype

    def format_or(self, default: str) -> str:
        """The number format of the weights: that of `dtype_or`, or int8 or int4 for a quantised copy."""
        return f"int{self.bits}" if self.bits else self.dtype_or(default)


@dataclass(frozen=True)
class Published:
    """Settings of the cascade that were published for the models of a family: K, cumulative, and lenience."""

    name: str
    K: tuple[tuple[int, ...], ...]
    lenience: float


@dataclass(frozen=True)
class FamilySpec:
    """A target and its drafts, strongest first.

    `chat`: whether the prompt is sent as a user's turn; None: only if the tokenizer has a chat template. `turn` is the
    format of a turn for tokenizers without a template, with {} for the text. `tokenizer` is the folder of a tokenizer
    shared by all models; if empty, each model has its own and they are compared. `bigram` is the file of a prebuilt
    bigram table, `tuned` that of a tuning record, `prompts` that of the family's example prompts. `published` are
    settings from papers.
    """

    name: str
    target: ModelSpec
    drafts: tuple[ModelSpec, ...] = ()
    chat: bool | None = None
    about: str = ""
    tokenizer: str = ""
    turn: str = ""
    bigram: str = ""
    tuned: str = ""
    prompts: str = QUESTIONS
    published: tuple[Published, ...] = ()

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """Target first, then the drafts, strongest first. Models are loaded in this order."""
        return (self.target, *self.drafts)

    @property
    def draft_names(self) -> tuple[str, ...]:
        """Names of the drafts, strongest first."""
        return tuple(draft.name for draft in self.drafts)

    @property
    def copies(self) -> tuple[str, ...]:
        """Names of the drafts that are quantised copies of the target."""
        return tuple(draft.name for draft in self.drafts if draft.bits)

    def without_copies(self) -> FamilySpec:
        """The same family with models of their own only: those that have files."""
        return replace(self, drafts=tuple(draft for draft in self.drafts if not draft.bits))

    def with_copies(self, *names: str) -> FamilySpec:
        """The same family with these quantised copies of its target (`COPIES`) as its strongest drafts."""
        copies = tuple(copy_of(self.target, name) for name in COPIES if name in names)
        others = tuple(draft for draft in self.drafts if draft.name not in names)
        return replace(self, drafts=(*copies, *others))


def copy_of(target: ModelSpec, name: str) -> ModelSpec:
    """A quantised copy of a target as one of its drafts; `name` is one of `COPIES`."""
    return replace(target, name=name, bits=COPIES[name])


def short_names(ids: Sequence[str]) -> tuple[str, ...]:
    """Level names for drafts: the last part of each ID, made unique."""
    taken: set[str] = set(RESERVED)
    names: list[str] = []
    for id in ids:
        stem = re.split(r"[/\\]", id.rstrip("/\\"))[-1].removesuffix(".gguf") or "draft"
        name, count = stem, 1
        while name in taken:
            count += 1
            name = f"{stem}-{count}"
        taken.add(name)
        names.append(name)
    return tuple(names)


def custom(target: str, drafts: Sequence[str] = (), dtype: str = "auto", chat: bool | None = None) -> FamilySpec:
    """A family of any Hub IDs, local folders or GGUF files, drafts strongest first; "id@revision" selects a revision.

    A draft called "self-8bit" or "self-4bit" is a quantised copy of the target. Raises FamilyError for an ID that is
    empty or too long, and for too many drafts.
    """
    if len(drafts) > MOST_DRAFTS:
        raise FamilyError(f"{len(drafts):,} drafts are named. A family has at most {MOST_DRAFTS}.")
    copies = [draft.strip() for draft in drafts if draft.strip() in COPIES]
    sources = [_split_revision(text) for text in (target, *drafts) if text.strip() not in COPIES]
    names = ("target", *short_names([id for id, _ in sources[1:]]))
    models = [ModelSpec(name, id, revision, dtype) for name, (id, revision) in zip(names, sources, strict=True)]
    spec = FamilySpec(f"custom: {sources[0][0]}", models[0], tuple(models[1:]), chat, "Models of your own choice.")
    return spec.with_copies(*copies)


def split_names(names: str) -> list[str]:
    """Names of models that are separated by commas or lines."""
    return [name for name in names.replace("\n", ",").split(",") if name.strip()]


def _split_revision(text: str) -> tuple[str, str]:
    text = text.strip()
    if not text:
        raise FamilyError("The name of a model is empty. Give a Hub ID such as Qwen/Qwen3-0.6B, a folder or a file.")
    if len(text) > LONGEST_ID or not text.isprintable():
        raise FamilyError(
            f"The name of a model is {shorten(text)!r}: it has at most {LONGEST_ID} characters, all of them printable."
        )
    if "@" in text and local_path(text) is None:
        id, revision = text.rsplit("@", 1)
        return id, revision or "main"
    return text, "main"
