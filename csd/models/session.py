"""One lane's view of a model: tokens in, logits out; the KV cache is private."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from csd.decoding.choice import Chooser
from csd.decoding.tokens import TokenSequence
from csd.models.backends.interface import FollowingLane, ForwardFn, Lane


class Session:
    """A model with the keys and values of one lane's text. Weights are shared between sessions, caches never are.

    `forward` is the model over an empty cache (the `run` of a backend's lane), `vocab` the width of the rows that the
    session returns (models of one family may pad theirs differently), `context` the longest text in tokens that the
    model can read, `costs` the measured seconds of a forward pass by width (see `backends.costs`). `release` gives the
    cache back to the backend.
    """

    def __init__(
        self,
        name: str,
        forward: ForwardFn,
        vocab: int,
        context: int,
        costs: Sequence[float] = (),
        release: Callable[[], None] | None = None,
    ):
        self.name, self.context, self.costs = name, context, costs
        self._forward, self._vocab, self._release = forward, vocab, release
        self._fixed = 0  # committed tokens that are cached
        self._tail: tuple[int, ...] = ()  # speculative tokens cached after them

    def logits(self, sequence: TokenSequence, since: int) -> Tensor:
        """Rows for positions since .. len(sequence), [len(sequence) - since + 1, vocab].

        Row j predicts what follows the first since + j tokens.
        """
        # The row for position `since` comes from feeding the token before it, so that token is never kept.
        keep = min(self._fixed + self._agreed(sequence), since - 1)
        logits = self._forward(sequence.since(keep), keep, len(sequence) - since + 1)
        self._fixed, self._tail = len(sequence.committed), sequence.tail
        return logits[:, : self._vocab]

    @property
    def choice(self) -> Tensor | None:
        """None: the rule chooses from the rows."""
        return None

    def prefill(self, sequence: TokenSequence) -> None:
        """Read the prompt and wait for it. A text longer than the model's context is not read: the level is skipped."""
        if len(sequence) <= self.context:
            self.logits(sequence, len(sequence)).argmax().item()

    def close(self) -> None:
        """Release the cache for the next race. The session cannot be used afterwards; closing it twice is allowed."""
        release, self._release = self._release, None
        self._forward = _closed
        if release is not None:
            release()

    def _agreed(self, sequence: TokenSequence) -> int:
        """How many of the cached tokens after the committed ones are those of the sequence."""
        count = 0
        for ours, theirs in zip(self._tail, sequence.since(self._fixed), strict=False):
            if ours != theirs:
                break
            count += 1
        return count


class FollowingSession(Session):
    """A session over a lane whose device works ahead of the host, see `csd.decoding.chain`."""

    def __init__(self, name: str, lane: FollowingLane, vocab: int, context: int, costs: Sequence[float] = ()):
        super().__init__(name, self._run, vocab, context, costs, lane.release)
        self._lane, self._padded = lane, False

    @property
    def choice(self) -> Tensor | None:
        """The two best of each row returned last; None where the model's rows are wider than the session's."""
        return None if self._padded else self._lane.choice

    def follow(self, token: Tensor) -> Tensor:
        """Feed one token that is still on the device after those fed last, and return the row after it, [1, vocab]."""
        return self._lane.follow(token)[:, : self._vocab]

    def follow_chain(self, token: Tensor, most: int, chooser: Chooser) -> Tensor | None:
        """Feed up to `most` tokens in one launch, see `FollowingLane`. None where the model's rows are wider too."""
        return None if self._padded else self._lane.follow_chain(token, most, chooser)

    def followed(self, tokens: tuple[int, ...]) -> None:
        """The tokens that were fed by `follow` and `follow_chain` since the last call of `logits`: they are cached."""
        self._tail += tokens

    def _run(self, ids: list[int], keep: int, rows: int) -> Tensor:
        logits = self._lane.run(ids, keep, rows)
        self._padded = logits.shape[-1] > self._vocab
        return logits


def open_session(name: str, lane: Lane, vocab: int, context: int, costs: Sequence[float]) -> Session:
    """A session over a backend's lane, which goes back to the backend when the session is closed."""
    if isinstance(lane, FollowingLane):
        return FollowingSession(name, lane, vocab, context, costs)
    return Session(name, lane.run, vocab, context, costs, lane.release)


def _closed(ids: list[int], keep: int, rows: int) -> Tensor:
    raise RuntimeError("This session is closed; open another one.")
