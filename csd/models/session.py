"""One lane's view of a decoder-only model: tokens in, logits out, the cache its own secret."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from csd.decoding.tokens import Sequence

Run = Callable[[list[int], int, int], Tensor]
"""A model with one lane's cache: (ids, keep, rows) feeds the ids behind the first `keep` cached tokens, forgetting what was
cached behind those, and returns the logits of the last `rows` of them, [rows, V]."""


class Session:
    """A model with the keys and values of one lane's text. Weights are shared between sessions, caches never.

    `run` is the model over an empty cache (`eager.lane`, `llama.Llama.lane`), `vocab` the width of the rows that come back
    (models of one family pad theirs differently), `context` the longest text in tokens that the model can read.
    """

    def __init__(self, name: str, run: Run, vocab: int, context: int):
        self.name, self.context = name, context
        self._run, self._vocab = run, vocab
        self._fixed = 0  # committed tokens that are cached
        self._tail: tuple[int, ...] = ()  # speculative tokens cached after them

    def logits(self, sequence: Sequence, since: int) -> Tensor:
        """Rows for positions since .. len(sequence), [len(sequence) - since + 1, vocab]; row j follows since + j tokens."""
        # The row for position `since` comes from feeding the token before it, so that one is never kept.
        keep = min(self._fixed + self._agreed(sequence), since - 1)
        logits = self._run(sequence.since(keep), keep, len(sequence) - since + 1)
        self._fixed, self._tail = len(sequence.committed), sequence.tail
        return logits[:, : self._vocab]

    def read(self, sequence: Sequence) -> None:
        """Prefill, and wait for it. A text longer than the model's context is not read: the level will be skipped."""
        if len(sequence) <= self.context:
            self.logits(sequence, len(sequence)).argmax().item()

    def _agreed(self, sequence: Sequence) -> int:
        """How many cached tokens after the committed ones are those of the sequence."""
        count = 0
        for ours, theirs in zip(self._tail, sequence.since(self._fixed)):
            if ours != theirs:
                break
            count += 1
        return count
