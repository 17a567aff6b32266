"""Max-Gram, the statistical leaf: copy what followed the last occurrence of the longest matching suffix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from time import perf_counter

from csd.decoding.draft import Draft
from csd.decoding.tokens import TokenSequence
from csd.record.trace import Proposal

BIGRAM_RUN = 2  # tokens: a chain of bigrams is right too seldom to be worth more of a review


class Node:
    """A context: the position that followed it last (or first), and the contexts that are one token longer.

    `longer` is None as long as the context stood in one place only; then the text itself tells what is before it.
    """

    __slots__ = ("longer", "place")

    def __init__(self, place: int):
        self.place, self.longer = place, None


class Index:
    """Where each context of the text (up to `longest` tokens) was last, or first, followed by a token.

    A trie of the contexts read backwards, grown one step where a context is met again. Committed tokens are entered once;
    the speculative tail is pushed with a log of what it changed and popped when the lane takes another way. A token costs
    as many steps as its match is long, whatever the length of the text.
    `matched` holds for each token the length of the match before it, and whether a copy would have been right there.
    It belongs to one lane, as a session does.
    """

    def __init__(self, longest: int = 16, earliest: bool = False):
        self.name = "MaxGram"
        self.longest, self.earliest = longest, earliest
        self.tokens: list[int] = []
        self.matched: list[tuple[int, bool]] = []
        self._fixed = 0
        self._contexts: dict[int, Node] = {}
        self._undo: list[list[tuple[dict[int, Node] | Node, int | None]]] = []

    def prefill(self, sequence: TokenSequence) -> None:
        """Index the prompt before decoding starts."""
        self.sync(sequence)

    def sync(self, sequence: TokenSequence) -> None:
        """Make this the index of `sequence`, which continues the committed text seen before."""
        new = sequence.since(self._fixed)
        known = self.tokens[self._fixed :]
        same = len(known)
        if new[:same] != known:
            same = next(i for i, (ours, theirs) in enumerate(zip_longest(known, new)) if ours != theirs)
        for _ in range(len(known) - same):
            self._pop()
        for token in new[same:]:
            self._push(token)
        fixed = len(sequence.committed)
        del self._undo[: fixed - self._fixed]
        self._fixed = fixed

    def match(self) -> tuple[int, int]:
        """Length of the longest suffix that occurred before, and the position of what followed it; (0, 0) for none."""
        tokens, contexts, found = self.tokens, self._contexts, (0, 0)
        end = len(tokens)
        for n in range(1, min(self.longest, end) + 1):
            if contexts is None:  # the context stood at one place: compare further back there
                place = found[1]
                if place < n or tokens[place - n] != tokens[end - n]:
                    break
                found = (n, place)
                continue
            node = contexts.get(tokens[end - n])
            if node is None:
                break
            found, contexts = (n, node.place), node.longer
        return found

    def copy(self, place: int, count: int) -> list[int]:
        """`count` tokens from `place` on; the source may run into the copy itself, so a period goes on."""
        period = len(self.tokens) - place
        return [self.tokens[place + i % period] for i in range(count)]

    def _push(self, token: int) -> None:
        tokens, contexts, log, length, right = self.tokens, self._contexts, [], 0, False
        end = len(tokens)
        for n in range(1, min(self.longest, end) + 1):
            last = tokens[end - n]
            node = contexts.get(last)
            if node is None:
                contexts[last] = Node(end)
                log.append((contexts, last))
                break
            place = node.place
            length, right = n, tokens[place] == token
            if node.longer is None and n < self.longest:
                node.longer = {tokens[place - n - 1]: Node(place)} if place > n else {}
                log.append((node, None))
            if not self.earliest:
                log.append((node, place))
                node.place = end
            contexts = node.longer
        tokens.append(token)
        self.matched.append((length, right))
        self._undo.append(log)

    def _pop(self) -> None:
        self.tokens.pop()
        self.matched.pop()
        for changed, old in reversed(self._undo.pop()):
            if not isinstance(changed, Node):
                del changed[old]
            elif old is None:
                changed.longer = None
            else:
                changed.place = old


@dataclass(frozen=True)
class MaxGram:
    """Propose up to k tokens by copying after the longest match, else by at most two bigrams (paper, section on Max-Gram).

    `bigram` holds, for each token of the vocabulary, the target's most likely next token after that token alone.
    """

    index: Index
    k: int
    bigram: Sequence[int] | None = None
    divisible: bool = True

    def draft(self, sequence: TokenSequence, room: int) -> Draft:
        started = perf_counter()
        self.index.sync(sequence)
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
