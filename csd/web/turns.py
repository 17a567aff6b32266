"""Who has had how much of the device, and so whose turn it is: regions take turns, networks within a region, and
addresses within a network."""

from __future__ import annotations

from collections.abc import Sequence

from csd.web.fair_order import Asked, Owner

MOST = 1000  # owners in debt; of more than these, the smallest debts are forgotten


class Turns:
    """The place of each owner on a clock. There is one clock for all regions, one for the networks of each, and one for
    the addresses of each network.

    It goes by the time that every owner who wants the device could have had since. An owner whose place is ahead of the
    clock has had more than that, which is a debt. It is over once the clock has passed the place, or nobody wants the
    device.
    """

    def __init__(self, most: int = MOST):
        self._most = most
        self._clocks: dict[Owner, float] = {}  # by the owner whose parts go by it; that of all regions by ()
        self.places: dict[Owner, float] = {}

    def come(self, race: Asked, others: Sequence[Asked]) -> None:
        """A race is asked for, besides the others that wait or run. Its owners begin from the clock, or their debt."""
        self._give_up(race, others)
        for owner in race.owners:
            self.places.setdefault(owner, self._clock(owner))

    def leave(self, race: Asked, others: Sequence[Asked]) -> None:
        """A race has left the queue before its turn."""
        self._give_up(race, others)

    def pay(self, race: Asked, seconds: float) -> None:
        """When a race begins its owners pay for what it is expected to take, and at its end for the difference."""
        for owner in race.owners:
            self.places[owner] += seconds

    def go_on(self, race: Asked, seconds: float, wanting: Sequence[Asked]) -> None:
        """A race has run for so long, while these wanted the device or had it, itself among them."""
        for owner in race.owners:
            self._share_out(owner, seconds, wanting)

    def forget(self, wanting: Sequence[Asked]) -> None:
        """Whoever neither wants the device nor is in debt, and clocks that nobody goes by."""
        if not wanting:
            self._clocks, self.places = {}, {}
        present = {owner for race in wanting for owner in race.owners}
        debts = {owner: place - self._clock(owner) for owner, place in self.places.items() if owner not in present}
        owing = sorted((owner for owner, debt in debts.items() if debt > 0), key=debts.__getitem__)
        self.places = {owner: self.places[owner] for owner in (*present, *owing[-self._most :])}
        clocks = {(), *(owner[:-1] for owner in self.places)}
        self._clocks = {clock: time for clock, time in self._clocks.items() if clock in clocks}

    def _give_up(self, race: Asked, others: Sequence[Asked]) -> None:
        """Nobody is further behind the clock than the longest of their races, and what they have not used goes to the
        others: otherwise whoever leaves before each turn would save turns up, and could have them all at once."""
        for owner in race.owners:
            behind = max((other.seconds for other in others if owner in other.owners), default=0.0)
            unused = self._clock(owner) - behind - self.places.get(owner, self._clock(owner))
            if unused > 0:
                self.places[owner] += unused
                self._share_out(owner, unused, others)

    def _share_out(self, owner: Owner, seconds: float, wanting: Sequence[Asked]) -> None:
        rivals = {one for race in wanting for one in race.owners if one[:-1] == owner[:-1]}
        self._clocks[owner[:-1]] = self._clock(owner) + seconds / max(1, len(rivals))

    def _clock(self, owner: Owner) -> float:
        return self._clocks.get(owner[:-1], 0.0)
