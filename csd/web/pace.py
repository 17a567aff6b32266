"""How fast races have gone lately, from which the seconds of the next ones are estimated."""

from __future__ import annotations

from collections import deque

RECENT = 20  # turns on the device from which the next ones are estimated
USUAL = 0.02  # seconds for a unit of size, until a race has been timed
BRIEF = 0.1  # seconds of a turn; one that was refused takes fewer, and says nothing about others


class Pace:
    """Seconds of the device for a unit of size, over the latest turns. The first turn of all warms the models, and
    counts until there is another one."""

    def __init__(self) -> None:
        self._turns: deque[tuple[float, float]] = deque(maxlen=RECENT)
        self._is_cold = True

    def add(self, size: float, seconds: float) -> None:
        if seconds <= BRIEF:
            return
        if self._turns and self._is_cold:
            self._turns.clear()
            self._is_cold = False
        self._turns.append((size, seconds))

    @property
    def seconds(self) -> float | None:
        """None before the first turn."""
        return (
            sum(seconds for _, seconds in self._turns) / sum(size for size, _ in self._turns) if self._turns else None
        )

    def expect(self, size: float) -> float:
        """Seconds for a race of this size."""
        return size * (self.seconds or USUAL)
