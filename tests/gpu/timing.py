"""Seconds of work on a device: what it takes there without the launches, with them, and what the host waits for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import torch

WARMUP = 3
REPEATS = 15
LAUNCHED = 10  # runs in a row between two events


def work_seconds(calls: Sequence[Callable[[], Any]], device: str) -> float:
    """Seconds of one of these calls. On a GPU they are captured as one graph, so that no launch is in between."""
    if device != "cuda":
        return host_seconds(lambda: [call() for call in calls], REPEATS) / len(calls)
    replay, kept = capture(calls)
    found = [_between_events(replay) for _ in range(WARMUP + REPEATS)]
    del kept
    return median(found[WARMUP:]) / len(calls)


def launched_seconds(run: Callable[[], Any], device: str) -> float:
    """Seconds of one run among several that the host launches one after another."""
    if device != "cuda":
        return host_seconds(run, REPEATS)
    for _ in range(WARMUP):
        run()
    return median(_between_events(lambda: [run() for _ in range(LAUNCHED)]) for _ in range(5)) / LAUNCHED


def host_seconds(run: Callable[[], Any], repeats: int) -> float:
    """Seconds of one run on the host's clock; on a GPU a run must end by waiting for it."""
    for _ in range(WARMUP):
        run()
    found = []
    for _ in range(repeats):
        started = perf_counter()
        run()
        found.append(perf_counter() - started)
    return median(found)


def capture(calls: Sequence[Callable[[], Any]]) -> tuple[Callable[[], None], list[Any]]:
    """One CUDA graph that makes all calls, and what they return, which each replay overwrites."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):  # kernels are selected, workspaces allocated
            for call in calls:
                call()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        results = [call() for call in calls]
    return graph.replay, results


def _between_events(run: Callable[[], Any]) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1000
