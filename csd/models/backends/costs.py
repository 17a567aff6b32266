"""What a forward pass over w tokens costs on this device, measured when a family is loaded; and the best thread count.

The cost grows with the width differently on every device (on a CPU 8 tokens cost about 1.4 times one token, on a GPU
hardly more than one), so draft lengths must be chosen from the table, not from one number.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from time import perf_counter

from csd.decoding.draft import Draft
from csd.models.backends.interface import Backend

WIDEST = 65  # a block of 64 tokens and the token before it
WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 65)  # measured; linear interpolation between them
WARMED = sorted({*range(1, 25), *WIDTHS})  # run once before measuring; oneDNN keeps memory for each width that ran
CACHED_TOKENS = 64  # in the cache while measuring
WARMUP_SECONDS = 1.0  # per model at most, for a first pass at these widths
REPEATS = 5  # the fastest counts: a browser that loads the page on the same cores disturbs some of them
THREAD_REPEATS = 3
FASTER = 0.95  # of a pass's time: a wider pass that takes less is used in its place

Times = dict[int, float]
"""Seconds of a pass, by width."""


def measure_costs(backends: Mapping[str, Backend], contexts: Mapping[str, int]) -> dict[str, tuple[float, ...]]:
    """For each model the seconds of a pass over 1, 2, ... `WIDEST` tokens, including the choice of the tokens."""
    return to_costs(backends, measure_passes(backends, contexts))


def to_costs(backends: Mapping[str, Backend], times: Mapping[str, Times]) -> dict[str, tuple[float, ...]]:
    """The same from measured passes. Between their widths times lie on lines, or on steps where widths are fixed."""
    return {
        name: step_costs(times[name]) if fixed_widths(backend) else line_costs(times[name])
        for name, backend in backends.items()
    }


def fixed_widths(backend: Backend) -> tuple[int, ...]:
    """The widths of a backend's passes, to which it pads; empty where a pass is as wide as its ids."""
    return getattr(backend, "widths", ())


def measure_passes(backends: Mapping[str, Backend], contexts: Mapping[str, int]) -> dict[str, Times]:
    """For each model the seconds of passes of several widths, including the choice of the tokens.

    The usual widths run once before, since kernels are selected then. The models take turns, because a pass is slower
    after one of another model, whose weights have replaced its own in the caches: that counts one part in four. The
    fastest repeat counts.
    """
    timers = {name: _Timer(backend, contexts[name]) for name, backend in backends.items()}
    try:
        widest = {name: _warm_up(timer, fixed_widths(backends[name]) or WARMED) for name, timer in timers.items()}
        found: dict[str, Times] = {name: {} for name in timers}
        measured = {name: fixed_widths(backend) or WIDTHS for name, backend in backends.items()}
        for _ in range(REPEATS):
            for width in sorted(set().union(*measured.values())):
                for name, timer in timers.items():
                    if width in measured[name] and width <= widest[name]:
                        cold, warm = timer.seconds(width), timer.seconds(width)
                        seconds = min(cold, (cold + 3 * warm) / 4)
                        found[name][width] = min(seconds, found[name].get(width, seconds))
    finally:
        for timer in timers.values():
            timer.release()
    return found


def slower_than_wider(times: Times) -> tuple[int, ...]:
    """The widths that are not worth having: a wider pass takes less time, as where only that one is compiled."""
    return tuple(
        width for width in times if any(times[wider] < FASTER * times[width] for wider in times if wider > width)
    )


def best_threads(backend: Backend, context: int, most: int) -> int:
    """The number of threads, 1, 2, 4, ... up to `most`, that runs a model fastest at the widths of decoding.

    Leaves PyTorch at the last number that was tried.
    """
    import torch

    counts = sorted({min(2**power, most) for power in range(most.bit_length() + 1)})
    timer, best = _Timer(backend, context), {}
    widths = [width for width in (1, 8) if width <= timer.room]
    try:
        for _ in range(THREAD_REPEATS):
            for count in counts:
                torch.set_num_threads(count)
                seconds = sum(min(timer.seconds(width) for _ in range(THREAD_REPEATS)) for width in widths)
                best[count] = min(seconds, best.get(count, seconds))
    finally:
        timer.release()
    return min(counts, key=best.__getitem__)


class _Timer:
    """A lane with cached tokens, and the seconds that a pass after them takes. `room` is the widest pass that fits."""

    def __init__(self, backend: Backend, context: int):
        from csd.decoding.acceptance import Greedy

        self._review = Greedy()  # chooses tokens as a race does
        self._cached = min(CACHED_TOKENS, context // 2)
        self.room = context - self._cached
        self._lane = backend.open_lane(min(context, self._cached + max(WIDEST, *fixed_widths(backend), 0)))
        if self._cached:
            self._lane.run([0] * self._cached, 0, 1).argmax(-1).tolist()

    def seconds(self, width: int) -> float:
        draft = Draft((0,) * (width - 1))
        started = perf_counter()
        logits = self._lane.run([0] * width, self._cached, width)
        self._review.launch(draft, logits, self._cached, getattr(self._lane, "choice", None)).fetch()
        return perf_counter() - started

    def release(self) -> None:
        self._lane.release()


def _warm_up(timer: _Timer, widths: Sequence[int]) -> int:
    """Run at those widths that fit while there is time; returns the widest one reached."""
    started, widest = perf_counter(), 1
    for width in (width for width in widths if width <= timer.room):
        timer.seconds(width)
        widest = width
        if perf_counter() - started > WARMUP_SECONDS:
            break
    return widest


def step_costs(times: Times) -> tuple[float, ...]:
    """Seconds for every number of tokens: of the narrowest pass that holds them; beyond the widest, of several."""
    widths = sorted(times)
    widest = widths[-1]

    def at(count: int) -> float:
        full, rest = divmod(count, widest)
        part = times[widths[bisect_left(widths, rest)]] if rest else 0.0
        return full * times[widest] + part

    return tuple(at(count) for count in range(1, WIDEST + 1))


def line_costs(times: Times) -> tuple[float, ...]:
    """Seconds for every width: straight lines between and beyond the measured ones, none dearer than a wider one."""
    widths = sorted(times)
    if len(widths) == 1:
        return (times[widths[0]],) * WIDEST
    monotonic = list(accumulate((times[width] for width in reversed(widths)), min))[::-1]
    lines = [(a, x, (y - x) / (b - a)) for (a, b), (x, y) in zip(pairwise(widths), pairwise(monotonic), strict=True)]

    def at(width: int) -> float:
        start, seconds, slope = lines[min(max(0, bisect(widths, width) - 1), len(lines) - 1)]
        return seconds + slope * (width - start)

    return tuple(at(width) for width in range(1, WIDEST + 1))
