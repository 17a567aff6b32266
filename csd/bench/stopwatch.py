"""Stopwatches that add up the seconds inside model forward passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import Any, Protocol

Forward = Callable[..., Any]
OpenLane = Callable[[int], Forward]
"""Gives a model over an empty cache for texts of up to this many tokens, as in `Family.lanes`."""


class Stopwatch(Protocol):
    """Runs forward passes and adds up their time. `seconds` is the sum since the last `reset`."""

    @property
    def seconds(self) -> float: ...

    def run(self, forward: Forward, *arguments: Any) -> Any: ...

    def reset(self) -> None: ...


class HostStopwatch:
    """Times forward passes by the host's clock."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def run(self, forward: Forward, *arguments: Any) -> Any:
        started = perf_counter()
        result = forward(*arguments)
        self.seconds += perf_counter() - started
        return result

    def reset(self) -> None:
        self.seconds = 0.0


class CudaStopwatch:
    """Times forward passes by events on the GPU, since the host does not wait for them."""

    def __init__(self) -> None:
        self._events: list[tuple[Any, Any]] = []

    @property
    def seconds(self) -> float:
        import torch

        torch.cuda.synchronize()
        return sum(begin.elapsed_time(end) for begin, end in self._events) / 1000

    def run(self, forward: Forward, *arguments: Any) -> Any:
        import torch

        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        result = forward(*arguments)
        end.record()
        self._events.append((begin, end))
        return result

    def reset(self) -> None:
        self._events.clear()


def make_stopwatch(device: str) -> Stopwatch:
    return CudaStopwatch() if device.startswith("cuda") else HostStopwatch()


def watch_lanes(lanes: Mapping[str, OpenLane], stopwatch: Stopwatch) -> dict[str, OpenLane]:
    """The same lanes, with every forward pass timed by the stopwatch."""
    return {name: partial(_open_watched, open_lane, stopwatch) for name, open_lane in lanes.items()}


def _open_watched(open_lane: OpenLane, stopwatch: Stopwatch, capacity: int) -> Forward:
    return partial(stopwatch.run, open_lane(capacity))
