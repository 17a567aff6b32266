"""Stopwatches that add up the seconds inside model forward passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from csd.models.backends.interface import Backend, FollowingLane, Lane

if TYPE_CHECKING:
    from torch import Tensor

    from csd.decoding.choice import Chooser

Forward = Callable[..., Any]

PAIRS = 512  # of events; the host waits for the GPU once in so many forward passes, and at each review anyway


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
    """Times forward passes by events on the GPU, since the host does not wait for them.

    Making an event takes longer than recording it, so a number of pairs is made before and used again and again.
    """

    def __init__(self, device: str, pairs: int = PAIRS) -> None:
        import torch

        self._stream = torch.cuda.current_stream(device)
        self._pairs = [tuple(torch.cuda.Event(enable_timing=True) for _ in range(2)) for _ in range(pairs)]
        for pair in self._pairs:
            for event in pair:
                event.record(self._stream)  # the driver's event is made at its first record
        self._used, self._summed = 0, 0.0

    @property
    def seconds(self) -> float:
        used = self._pairs[: self._used]
        if used:
            used[-1][1].synchronize()
        return self._summed + sum(begin.elapsed_time(end) for begin, end in used) / 1000

    def run(self, forward: Forward, *arguments: Any) -> Any:
        if self._used == len(self._pairs):
            self._summed, self._used = self.seconds, 0
        begin, end = self._pairs[self._used]
        begin.record(self._stream)
        result = forward(*arguments)
        end.record(self._stream)
        self._used += 1
        return result

    def reset(self) -> None:
        self._used, self._summed = 0, 0.0


def make_stopwatch(device: str) -> Stopwatch:
    return CudaStopwatch(device) if device.startswith("cuda") else HostStopwatch()


def watch_backends(backends: Mapping[str, Backend], stopwatch: Stopwatch) -> dict[str, Backend]:
    """The same backends, with every forward pass timed by the stopwatch."""
    return {name: WatchedBackend(backend, stopwatch) for name, backend in backends.items()}


@dataclass(frozen=True)
class WatchedBackend:
    backend: Backend
    stopwatch: Stopwatch

    def open_lane(self, capacity: int) -> WatchedLane:
        lane = self.backend.open_lane(capacity)
        if isinstance(lane, FollowingLane):
            return WatchedFollowingLane(lane, self.stopwatch)
        return WatchedLane(lane, self.stopwatch)


@dataclass(frozen=True)
class WatchedLane:
    lane: Lane
    stopwatch: Stopwatch

    def run(self, ids: list[int], keep: int, rows: int) -> Tensor:
        return self.stopwatch.run(self.lane.run, ids, keep, rows)

    def release(self) -> None:
        self.lane.release()


@dataclass(frozen=True)
class WatchedFollowingLane(WatchedLane):
    lane: FollowingLane

    @property
    def choice(self) -> Tensor | None:
        return self.lane.choice

    def follow(self, token: Tensor) -> Tensor:
        return self.stopwatch.run(self.lane.follow, token)

    def follow_chain(self, token: Tensor, most: int, chooser: Chooser) -> Tensor | None:
        return self.stopwatch.run(self.lane.follow_chain, token, most, chooser)
