"""Max-Gram, the statistical leaf: copy what followed the last occurrence of the longest matching suffix."""

from __future__ import annotations

from collections.abc import Sequence as Ids
from dataclasses import dataclass
from time import perf_counter

from csd.decoding.draft import Draft
from csd.decoding.sequence import Sequence
from csd.trace import Proposal

BIGRAM_RUN = 2  # tokens: a chain of bigrams is right too seldom to be worth more of a review


class Index:
    """Where each n-gram of the text (n up to `longest`) was last, or first, followed by a token.

    One dict per n from n-gram to that position. Committed tokens are entered once; the speculative tail is pushed with a
    log of what it replaced and popped when the lane takes another way: O(longest) per token, whatever the length.
    It belongs to one lane, as a session does.
    """

    def __init__(self, longest: int = 16, earliest: bool = False):
        self.name = "MaxGram"
        self.longest, self.earliest = longest, earliest
        self.tokens: list[int] = []
        self._fixed = 0
        self._places: list[dict[tuple[int, ...], int]] = [{} for _ in range(longest + 1)]
        self._undo: list[list[tuple[int, tuple[int, ...], int | None]]] = []

    def read(self, sequence: Sequence) -> None:
        """Make the index that of `sequence`, which continues the committed text seen before."""
        new = sequence.since(self._fixed)
        known = self.tokens[self._fixed :]
        same = 0
        while same < len(new) and same < len(known) and new[same] == known[same]:
            same += 1
        for _ in range(len(known) - same):
            self._pop()
        for token in new[same:]:
            self._push(token)
        fixed = len(sequence.committed)
        del self._undo[: fixed - self._fixed]
        self._fixed = fixed

    def match(self) -> tuple[int, int]:
        """Length of the longest suffix that occurred before, and the position of what followed it; (0, 0) for none."""
        found = (0, 0)
        for n in range(1, min(self.longest, len(self.tokens)) + 1):
            place = self._places[n].get(tuple(self.tokens[-n:]))
            if place is None:  # a longer suffix cannot have occurred if a shorter one has not
                break
            found = (n, place)
        return found

    def copy(self, place: int, count: int) -> list[int]:
        """`count` tokens from `place` on; the source may run into the copy itself, so a period goes on."""
        period = len(self.tokens) - place
        return [self.tokens[place + i % period] for i in range(count)]

    def _push(self, token: int) -> None:
        end, log = len(self.tokens), []
        for n in range(1, min(self.longest, end) + 1):
            key = tuple(self.tokens[end - n :])
            old = self._places[n].get(key)
            if old is None or not self.earliest:
                log.append((n, key, old))
                self._places[n][key] = end
        self.tokens.append(token)
        self._undo.append(log)

    def _pop(self) -> None:
        self.tokens.pop()
        for n, key, old in self._undo.pop():
            if old is None:
                del self._places[n][key]
            else:
                self._places[n][key] = old


@dataclass(frozen=True)
class MaxGram:
    """Propose up to k tokens by copying after the longest match, else by at most two bigrams (paper, section on Max-Gram).

    `bigram` holds, for each token of the vocabulary, the target's most likely next token after that token alone.
    """

    index: Index
    k: int
    bigram: Ids[int] | None = None
    divisible: bool = True

    def draft(self, sequence: Sequence, room: int) -> Draft:
        started = perf_counter()
        self.index.read(sequence)
        length, place = self.index.match()
        count = min(self.k, room)
        if length:
            tokens, author = self.index.copy(place, count), "MaxGram"
        else:
            tokens, author = self._chain(min(count, BIGRAM_RUN)), "Bigram"
        drafted = tuple(sequence.until_end(tokens))
        authors = (author,) * len(drafted)
        record = Proposal(self.index.name, len(sequence), drafted, authors, started, perf_counter() - started)
        return Draft(drafted, authors, None, (record,))

    def _chain(self, count: int) -> list[int]:
        tokens: list[int] = []
        if self.bigram is not None and self.index.tokens:
            last = self.index.tokens[-1]
            while len(tokens) < count and last < len(self.bigram):
                last = self.bigram[last]
                tokens.append(last)
        return tokens
