"""Who has used more of the device than was expected, and so stands further back in the queue for a while."""

from __future__ import annotations

MOST = 1000  # addresses; of more than these, the smallest debts are forgotten


class Debts:
    """For an address the place on the clock of the queue from which its next race begins. A debt is over once the clock
    has passed that place."""

    def __init__(self, most: int = MOST):
        self._most = most
        self._starts: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._starts)

    def start(self, own: str, clock: float) -> float:
        """Where the next race of an address begins."""
        return max(clock, self._starts.get(own, clock))

    def put(self, own: str, start: float, clock: float) -> None:
        """Let the next race of an address begin there, and forget debts that are over."""
        starts = sorted({**self._starts, own: start}.items(), key=lambda one: one[1])
        self._starts = {one: place for one, place in starts[-self._most :] if place > clock}
