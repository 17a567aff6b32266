"""What every backend provides: lanes over the weights of one model, each with its own KV cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from torch import Tensor

    from csd.decoding.choice import Chooser

ForwardFn = Callable[[list[int], int, int], "Tensor"]
"""A model with one lane's cache. (ids, keep, rows) feeds the ids after the first `keep` cached tokens, drops what was
cached after those, and returns the logits of the last `rows` ids, [rows, V], which are valid until the next call."""


class Lane(Protocol):
    """A model with the KV cache of one text. It belongs to whoever opened it, until `release`."""

    def run(self, ids: list[int], keep: int, rows: int) -> Tensor:
        """A `ForwardFn`."""
        ...

    def release(self) -> None:
        """Give the cache back to the backend. The lane cannot be used afterwards."""
        ...


@runtime_checkable
class FollowingLane(Lane, Protocol):
    """A lane on a device that works ahead of its host."""

    @property
    def choice(self) -> Tensor | None:
        """`top_two` of the rows returned last, [rows, 3], valid as long as they are; None if the pass left it out."""
        ...

    def follow(self, token: Tensor) -> Tensor:
        """Feed one token, a tensor of one number on the device, after those fed last. [1, V], valid as in `run`."""
        ...

    def follow_chain(self, token: Tensor, most: int, chooser: Chooser) -> Tensor | None:
        """Feed one token like `follow`, and after it tokens that the device chooses: up to `most` in all, at once.

        `top_two` of what was chosen after each of them, [tokens fed, 3], valid until the next call. None if the lane
        has no graph for that; then nothing was fed.
        """
        ...


class Backend(Protocol):
    """One way of running a model."""

    def open_lane(self, capacity: int) -> Lane:
        """The model over an empty cache for texts of up to `capacity` tokens."""
        ...
