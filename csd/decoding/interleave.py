"""Several lanes on one device, fairly interleaved: the lane whose own clock is furthest behind makes the next step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from csd.record.trace import Prefill, Step


def interleave(
    lanes: Sequence[Iterator[Prefill | Step]], stopped: Callable[[], bool] = lambda: False
) -> Iterator[tuple[int, Prefill | Step | None]]:
    """Yield (lane, what it did), or (lane, None) when a lane is finished; end between steps if `stopped()` is true."""
    clocks = dict.fromkeys(range(len(lanes)), 0.0)
    while clocks and not stopped():
        lane = min(clocks, key=clocks.__getitem__)
        record = next(lanes[lane], None)
        if record is None:
            del clocks[lane]
        else:
            clocks[lane] = record.start + record.seconds
        yield lane, record
