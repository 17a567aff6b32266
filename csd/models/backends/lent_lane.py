"""A graph lane as long as it is lent: whoever holds it afterwards cannot disturb the next text."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from csd.decoding.choice import Chooser
from csd.models.backends.cuda_graphs import GraphLane


class LentLane:
    """A lane of a pool, until `release`."""

    def __init__(self, lane: GraphLane, give_back: Callable[[GraphLane], None]):
        self._lane: GraphLane | None = lane
        self._give_back = give_back

    def run(self, ids: list[int], keep: int, rows: int) -> Tensor:
        """A `ForwardFn`. Raises RuntimeError after `release`, since the lane may belong to another text by then."""
        return self._held.run(ids, keep, rows)

    @property
    def choice(self) -> Tensor | None:
        return self._held.choice

    def follow(self, token: Tensor) -> Tensor:
        """Feed one token that is still on the device, see `FollowingLane`."""
        return self._held.follow(token)

    def follow_chain(self, token: Tensor, most: int, chooser: Chooser) -> Tensor | None:
        """Feed up to `most` tokens in one launch, see `FollowingLane`."""
        return self._held.follow_chain(token, most, chooser)

    @property
    def _held(self) -> GraphLane:
        if self._lane is None:
            raise RuntimeError("This lane was released; open another one.")
        return self._lane

    def release(self) -> None:
        """Give the lane back to its pool; a second call has no effect."""
        lane, self._lane = self._lane, None
        if lane is not None:
            self._give_back(lane)
