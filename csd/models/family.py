"""A loaded model family: it encodes prompts, spells tokens and gives out sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from csd.models import bigram as bigrams
from csd.models.backends.interface import Backend
from csd.models.spec import FamilySpec
from csd.models.tokenizer import TokenText, TokenTexts, unspelled
from csd.record.trace import Level

if TYPE_CHECKING:
    from csd.models.session import Session


@dataclass(frozen=True)
class Family:
    """Loaded models that share a tokenizer, for any number of lanes.

    `levels` and `backends` are ordered from the weakest draft to the target. `vocab` is the size of the vocabulary that
    all models share, `eos` the set of ids that end a text, `contexts` the tokens that each model reads. `backends` run
    the models, `costs` are the measured seconds of a forward pass by width. `commit` identifies the target's weights,
    `start` is the id between prompt and answer (an encoder-decoder's start token; None if there is none), `placed`
    says where a split target and its drafts are (empty: all on `device`), `notes` are sentences for the user.
    `reference` gives transformers' own model of a level; if its backend needs none, it is loaded again and lives as
    long as the caller keeps it.
    """

    spec: FamilySpec
    tokenizer: Any
    levels: tuple[Level, ...]
    backends: dict[str, Backend]
    costs: dict[str, tuple[float, ...]]
    contexts: dict[str, int]
    device: str
    dtype: str
    eos: frozenset[int]
    vocab: int
    bigram: Sequence[int] | None
    chat: bool
    token_texts: TokenTexts
    reference: Callable[[str], Any]
    commit: str = ""
    start: int | None = None
    placed: str = ""
    notes: tuple[str, ...] = ()

    @property
    def context(self) -> int:
        """The longest text in tokens, prompt included."""
        return self.contexts["target"]

    @property
    def draft_names(self) -> tuple[str, ...]:
        """Names of the drafts, strongest first."""
        return tuple(level.name for level in reversed(self.levels[:-1]))

    @property
    def opening(self) -> tuple[int, ...]:
        """The ids in front of each token of the bigram table: what starts every text, or in a chat a line break.

        After an empty turn a chat model says how answers begin, whatever the token; after a line break it goes on.
        """
        return (*self.tokenizer("")["input_ids"], *self.encode_plain("\n")) if self.chat else self.encode("")

    @property
    def bigram_path(self) -> Path:
        """Where the family's bigram table is stored."""
        return bigrams.table_path(self.spec, self.commit, self.vocab)

    def encode(self, text: str) -> tuple[int, ...]:
        """The ids of a prompt, with special tokens: as a user's turn if the family chats, otherwise as plain text."""
        if self.chat and not self.spec.turn:
            turn = [{"role": "user", "content": text}]
            return tuple(
                self.tokenizer.apply_chat_template(
                    turn, add_generation_prompt=True, tokenize=True, return_dict=False, enable_thinking=False
                )
            )
        if self.chat:
            text = self.spec.turn.replace("{}", text)
        ids = self.tokenizer(text)["input_ids"]
        return tuple(ids) if self.start is None else (*(id for id in ids if id != self.start), self.start)

    def encode_plain(self, text: str) -> tuple[int, ...]:
        """The ids of a piece of text by itself, without special tokens and without a chat turn."""
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def unspelled(self, text: str) -> str:
        """The characters of a text that no token of the vocabulary has, each once."""
        return unspelled(self.tokenizer, text)

    def pieces(self, ids: Iterable[int]) -> dict[int, TokenText]:
        """The text of each id, or the bytes of an id that is only a part of a character."""
        return self.token_texts.texts(ids)

    def session(self, name: str, capacity: int) -> Session:
        """A new, empty session with one of the models, for texts of up to `capacity` tokens. Close it after use."""
        from csd.models.session import open_session

        lane = self.backends[name].open_lane(capacity)
        return open_session(name, lane, self.vocab, self.contexts[name], self.costs[name])
