"""Random table language models, and a family of them that `csd.run.run_race` takes like any other.

The next token's logits depend on the last two tokens alone, so every distribution can be computed by hand. The session is a
hostile one: rows that it returned turn to NaN at its next call, and a call that the protocol forbids fails.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace

import torch
from torch import Tensor

from csd.decoding.acceptance import AcceptanceRule, Greedy
from csd.decoding.generate import generate
from csd.decoding.methods import LaneParts, Method
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Level, Proposal, Review, Step

DRAFTS = ("draft-3", "draft-2", "draft-1")  # strongest first


class Watched(list):
    """A text that counts how many of its tokens are read."""

    read = 0

    def __getitem__(self, key):
        found = super().__getitem__(key)
        self.read += len(found) if isinstance(key, slice) else 1
        return found

    def __iter__(self):
        self.read += len(self)
        return super().__iter__()


def table(vocab: int, seed: int, sharp: float = 2.0) -> Tensor:
    """Logits [V, V, V]: after the tokens (a, b) comes row [a, b]."""
    return sharp * torch.randn(vocab, vocab, vocab, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def blurred(strong: Tensor, seed: int, noise: float) -> Tensor:
    """A weaker model: the same table with added noise."""
    return strong + noise * torch.randn(
        strong.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )


def after(logits: Tensor, tokens: Iterable[int]) -> Tensor:
    """The logits of the token after these; a missing left neighbour counts as token 0."""
    last = (0, 0, *tokens)[-2:]
    return logits[last]


@dataclass(eq=False)
class TableSession:
    """A session over a table. `calls` counts model runs after prefill, `fed` holds the width of each."""

    name: str
    table: Tensor
    context: int = 10**6
    costs: tuple[float, ...] = ()
    calls: int = 0
    fed: list[int] = field(default_factory=list)
    closed: bool = False
    choice: Tensor | None = None
    _given: Tensor | None = None

    def logits(self, sequence: TokenSequence, since: int) -> Tensor:
        assert 1 <= since <= len(sequence) <= self.context, (since, len(sequence), self.context)
        self.calls += 1
        self.fed.append(len(sequence) - since + 1)
        return self._rows(sequence, since)

    def prefill(self, sequence: TokenSequence) -> None:
        assert not sequence.tail
        self._rows(sequence, len(sequence))

    def close(self) -> None:
        self.closed = True

    def _rows(self, sequence: TokenSequence, since: int) -> Tensor:
        assert not self.closed, "a closed session was used"
        if self._given is not None:
            self._given.fill_(math.nan)
        text = sequence.since(0)
        self._given = torch.stack([after(self.table, text[:end]) for end in range(since, len(text) + 1)])
        return self._given


@dataclass(frozen=True)
class ToyFamily:
    """What `run_race` wants of a family; token i is spelled chr(97 + i)."""

    tables: dict[str, Tensor]  # from the weakest draft to the target
    contexts: dict[str, int]
    eos: frozenset[int] = frozenset()
    bigram: tuple[int, ...] | None = None
    device: str = "cpu"
    placed: str = ""
    dtype: str = "float64"
    spec: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(name="toy"))
    opening: tuple[int, ...] = ()
    lacking: str = ""  # characters that the vocabulary does not have
    opened: list[TableSession] = field(default_factory=list)  # every session that was asked for

    @property
    def levels(self) -> tuple[Level, ...]:
        return tuple(Level(name, number, dtype=self.dtype) for number, name in enumerate(self.tables, 1))

    @cached_property
    def costs(self) -> dict[str, tuple[float, ...]]:
        """Each draft at a third of the next stronger model, eight tokens at one and a half times the cost of one."""
        names = list(reversed(self.tables))
        return {name: tuple(3.0**-i * (1 + width / 16) for width in range(65)) for i, name in enumerate(names)}

    @property
    def draft_names(self) -> tuple[str, ...]:
        return tuple(reversed(list(self.tables)[:-1]))

    @property
    def vocab(self) -> int:
        return len(self.tables["target"])

    @property
    def context(self) -> int:
        return self.contexts["target"]

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(ord(character) % self.vocab for character in text)

    encode_plain = encode

    def unspelled(self, text: str) -> str:
        return "".join(one for one in dict.fromkeys(text) if one in self.lacking)

    def pieces(self, ids: Iterable[int]) -> dict[int, str | tuple[int, ...]]:
        return {i: chr(97 + i) for i in ids}

    def session(self, name: str, capacity: int) -> TableSession:
        # Nothing may be written beyond the lane's capacity, so the toy's context is cut to it.
        session = TableSession(name, self.tables[name], min(self.contexts[name], capacity), self.costs[name])
        self.opened.append(session)
        return session


def family(
    vocab: int = 7,
    seed: int = 0,
    noises: tuple[float, ...] = (0.7, 1.2, 2.0),
    contexts: dict[str, int] | None = None,
    context: int = 400,
    eos: Iterable[int] = (),
    bigram: bool = False,
    sharp: float = 2.0,
) -> ToyFamily:
    """A target and one draft for each of `noises`, strongest first in DRAFTS, each a blurred target."""
    target = table(vocab, seed, sharp)
    drafts = {name: blurred(target, 1000 * seed + i, noise) for i, (name, noise) in enumerate(zip(DRAFTS, noises), 1)}
    tables = {**dict(reversed(drafts.items())), "target": target}
    follows = tuple(target[0, i].argmax().item() for i in range(vocab)) if bigram else None
    own = dict.fromkeys(tables, context) | (contexts or {})
    return ToyFamily(tables, own, frozenset(eos), follows)


def steps_of(
    toy: ToyFamily,
    method: Method,
    prompt: tuple[int, ...],
    max_new: int,
    rule: AcceptanceRule | None = None,
    eos: frozenset[int] = frozenset(),
) -> list[Step]:
    """One lane through the real loop, without `run_race`; greedy by default."""
    rule = rule or Greedy()
    sessions = {name: toy.session(name, len(prompt) + max_new) for name in method.models()}
    index = SuffixIndex()
    root = method.build(LaneParts(sessions, rule, index, toy.bigram, toy.encode_plain))
    records = generate(root, [index, *sessions.values()], prompt, max_new, eos)
    return [record for record in records if isinstance(record, Step)]


def text_of(steps: Iterable[Step]) -> tuple[int, ...]:
    return tuple(token for step in steps for token in step.tokens)


def records_of(record: Review | Proposal) -> Iterable[Review | Proposal]:
    """A record and everything inside it."""
    yield record
    for inner in getattr(record, "inner", ()):
        yield from records_of(inner)
