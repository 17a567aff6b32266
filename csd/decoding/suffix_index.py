"""Where the current suffix of the text occurred before: the index behind Max-Gram."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from csd.decoding.tokens import TokenSequence


class Context:
    """A context in the trie: the position that followed it last, and the contexts that are one token longer.

    `longer` is None as long as the context occurred only once, since the text itself then tells what precedes it.
    """

    __slots__ = ("longer", "position")

    def __init__(self, position: int):
        self.position = position
        self.longer: dict[int, Context] | None = None


class _Change(NamedTuple):
    """What one pushed token changed in the trie, so that it can be undone."""

    added: tuple[dict[int, Context], int] | None  # a new key of this dict
    split: list[Context]  # contexts that got their first longer ones
    moved: list[Context]
    former: list[int]  # the positions of those

    def undo(self) -> None:
        for context, position in zip(self.moved, self.former):
            context.position = position
        for context in self.split:
            context.longer = None
        if self.added is not None:
            contexts, token = self.added
            del contexts[token]


class SuffixIndex:
    """Where each context of the text (up to `longest` tokens) was last followed by a token.

    A trie of the contexts read backwards. Take "a b x a b": read back from the end, the context "b" was last followed
    by "x", at position 2. It has been followed only once, so longer matches are found by comparing the text itself:
    "a b" matches too, and Max-Gram copies from position 2 on. When the next token arrives, "b" has been followed twice
    and gains a level of longer contexts.

    Committed tokens are entered once; the speculative tail is pushed with a record of its changes and popped when the
    lane takes another path. A token costs as many steps as its match is long, whatever the length of the text.
    `matched` holds, for each token, the length of the match before it and whether a copy would have been right there.
    An index belongs to one lane, as a session does.
    """

    name = "MaxGram"

    def __init__(self, longest: int = 16):
        self.longest = longest
        self.tokens: list[int] = []
        self.matched: list[tuple[int, bool]] = []
        self._fixed = 0
        self._contexts: dict[int, Context] = {}
        self._changes: list[_Change] = []

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
        del self._changes[: fixed - self._fixed]
        self._fixed = fixed

    def match(self) -> tuple[int, int]:
        """Length of the longest suffix that occurred before, and the position of what followed it; (0, 0) for none."""
        tokens, contexts, found = self.tokens, self._contexts, (0, 0)
        end = len(tokens)
        for n in range(1, min(self.longest, end) + 1):
            if contexts is None:  # the context occurred once: compare further back in the text
                position = found[1]
                if position < n or tokens[position - n] != tokens[end - n]:
                    break
                found = (n, position)
                continue
            context = contexts.get(tokens[end - n])
            if context is None:
                break
            found, contexts = (n, context.position), context.longer
        return found

    def copy(self, position: int, count: int) -> list[int]:
        """`count` tokens from `position` on; the source may run into the copy itself, so a period continues."""
        period = len(self.tokens) - position
        return [self.tokens[position + i % period] for i in range(count)]

    def _push(self, token: int) -> None:
        tokens, contexts, longest = self.tokens, self._contexts, self.longest
        added, split, moved, former, end = None, [], [], [], len(tokens)
        for last in tokens[: -longest - 1 : -1]:
            context = contexts.get(last)
            if context is None:
                contexts[last] = Context(end)
                added = (contexts, last)
                break
            moved.append(context)
            former.append(context.position)
            context.position = end
            contexts = context.longer
            if contexts is None:
                if len(moved) == longest:
                    break
                contexts = context.longer = self._longer_contexts(former[-1], len(moved))
                split.append(context)
        tokens.append(token)
        self.matched.append((len(moved), bool(moved) and tokens[former[-1]] == token))
        self._changes.append(_Change(added, split, moved, former))

    def _longer_contexts(self, position: int, n: int) -> dict[int, Context]:
        """The contexts of n + 1 tokens of a context of n tokens that occurred only once, before `position`.

        There is one, with the token in front of it, unless that occurrence begins the text.
        """
        return {self.tokens[position - n - 1]: Context(position)} if position > n else {}

    def _pop(self) -> None:
        self.tokens.pop()
        self.matched.pop()
        self._changes.pop().undo()
