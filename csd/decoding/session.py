"""What the engine asks of a model: one lane's view of it, tokens in and logits out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from csd.decoding.tokens import TokenSequence

if TYPE_CHECKING:
    from torch import Tensor


class Session(Protocol):
    """A model with the KV cache of one lane. What is cached is private; `csd.models.session` is the real one.

    `context` is the longest text in tokens that the model can read. `costs` holds the measured seconds of a forward
    pass over w tokens at index w - 1; it may be empty where nobody asks for costs.
    """

    name: str
    context: int
    costs: Sequence[float]

    @property
    def choice(self) -> Tensor | None:
        """`top_two` of the rows that `logits` returned last, [rows, 3]; None where no pass computes it."""
        ...

    def logits(self, sequence: TokenSequence, since: int) -> Tensor:
        """Rows for positions since .. len(sequence): row j predicts what follows the first since + j tokens.

        [len(sequence) - since + 1, V], valid until this session's next call.
        """
        ...

    def prefill(self, sequence: TokenSequence) -> None:
        """Read the prompt ahead of decoding, and return when that is done."""
        ...
