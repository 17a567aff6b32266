"""Max-Gram, the statistical leaf: copy what followed the last occurrence of the longest matching suffix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

from csd.decoding.draft import Draft, Drafter, statistical_draft
from csd.decoding.suffix_index import SuffixIndex
from csd.decoding.tokens import TokenSequence

MAX_GRAM, BIGRAM = "MaxGram", "Bigram"  # the names of its two authors in traces
BIGRAM_RUN = 2  # tokens: a longer chain of bigrams is right too seldom to be worth the longer review


@dataclass(frozen=True)
class MaxGram(Drafter):
    """Propose up to k tokens by copying after the longest match, otherwise by at most two bigrams (paper, Max-Gram).

    `bigram` holds, for each token of the vocabulary, the target's most likely next token after that token alone.
    """

    exact_length: ClassVar[bool] = True

    index: SuffixIndex
    k: int
    bigram: Sequence[int] | None = None

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        started = perf_counter()
        self.index.sync(sequence)
        length, position = self.index.match()
        count = min(self.k, room)
        if length:
            tokens, author = self.index.copy(position, count), MAX_GRAM
        else:
            tokens, author = self._chain(min(count, BIGRAM_RUN)), BIGRAM
        return statistical_draft(MAX_GRAM, sequence, tokens, started, author)

    def prepare(self, text: TokenSequence) -> None:
        self.index.sync(text)

    def _chain(self, count: int) -> list[int]:
        """Up to `count` tokens, each the most likely successor of the one before."""
        tokens: list[int] = []
        if self.bigram is not None and self.index.tokens:
            last = self.index.tokens[-1]
            while len(tokens) < count and last < len(self.bigram):
                last = self.bigram[last]
                tokens.append(last)
        return tokens
