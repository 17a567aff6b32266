"""One lane's view of a decoder-only model: tokens in, logits out; the KV cache is private."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from csd.decoding.tokens import TokenSequence

Run = Callable[[list[int], int, int], Tensor]
"""A model with one lane's cache. (ids, keep, rows) feeds the ids after the first `keep` cached tokens, drops what was
cached after those, and returns the logits of the last `rows` ids, [rows, V]."""


class Session:
    """A model with the keys and values of one lane's text. Weights are shared between sessions, caches never are.

    `run` is the model over an empty cache (`eager.lane`, `llama_cpu.Llama.lane`), `vocab` the width of the rows that it
    returns (models of one family may pad theirs differently), `context` the longest text in tokens that the model can
    read, `costs` the measured seconds of a forward pass by width (see `backends.costs`).
    """

    def __init__(self, name: str, run: Run, vocab: int, context: int, costs: Sequence[float] = ()):
        self.name, self.context, self.costs = name, context, costs
        self._run, self._vocab = run, vocab
        self._fixed = 0  # committed tokens that are cached
        self._tail: tuple[int, ...] = ()  # speculative tokens cached after them

    def logits(self, sequence: TokenSequence, since: int) -> Tensor:
        """Rows for positions since .. len(sequence), [len(sequence) - since + 1, vocab].

        Row j predicts what follows the first since + j tokens.
        """
        # The row for position `since` comes from feeding the token before it, so that token is never kept.
        keep = min(self._fixed + self._agreed(sequence), since - 1)
        logits = self._run(sequence.since(keep), keep, len(sequence) - since + 1)
        self._fixed, self._tail = len(sequence.committed), sequence.tail
        return logits[:, : self._vocab]

    def prefill(self, sequence: TokenSequence) -> None:
        """Read the prompt and wait for it. A text longer than the model's context is not read: the level is skipped."""
        if len(sequence) <= self.context:
            self.logits(sequence, len(sequence)).argmax().item()

    def _agreed(self, sequence: TokenSequence) -> int:
        """How many of the cached tokens after the committed ones are those of the sequence."""
        count = 0
        for ours, theirs in zip(self._tail, sequence.since(self._fixed)):
            if ours != theirs:
                break
            count += 1
        return count
