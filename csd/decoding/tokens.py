"""The text of one lane as token ids: a committed part, and a short speculative tail."""

from __future__ import annotations

from collections.abc import Iterable


class TokenSequence:
    """Committed ids, shared by all sequences of a lane and only ever appended to, and a tail that is still a guess.

    A session or Max-Gram's index, which cache work on a sequence, compare tails only, so no cost grows with the
    length of the text. `eos` is the set of ids that end a text; it is empty where end-of-text is ignored.
    """

    __slots__ = ("committed", "eos", "tail")

    def __init__(self, committed: list[int], tail: tuple[int, ...] = (), eos: frozenset[int] = frozenset()):
        self.committed, self.tail, self.eos = committed, tail, eos

    def __len__(self) -> int:
        return len(self.committed) + len(self.tail)

    def __add__(self, tokens: tuple[int, ...]) -> TokenSequence:
        """The same committed text with a longer tail."""
        return TokenSequence(self.committed, self.tail + tokens, self.eos)

    def since(self, start: int) -> list[int]:
        """The ids from position `start` on."""
        fixed = len(self.committed)
        return self.committed[start:] + list(self.tail) if start < fixed else list(self.tail[start - fixed :])

    def commit(self, tokens: Iterable[int]) -> None:
        """Append to the committed text. Only the lane's own sequence does this, and it has no tail."""
        if self.tail:
            raise ValueError("Only a sequence without a speculative tail can be committed to.")
        self.committed.extend(tokens)

    @property
    def ended(self) -> bool:
        """Whether the tail ends the text."""
        return bool(self.tail) and self.tail[-1] in self.eos

    def until_eos(self, tokens: list[int]) -> list[int]:
        """The tokens up to and including the first EOS."""
        for index, token in enumerate(tokens):
            if token in self.eos:
                return tokens[: index + 1]
        return tokens
