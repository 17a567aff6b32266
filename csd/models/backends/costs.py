"""What a run over w tokens costs on this device, measured when a family is opened; and with how many threads to run.

Widths round up differently on every device (on a CPU 8 tokens cost about 1.4 times one, on a GPU nearly nothing more), so
whoever chooses how long drafts are needs the table, not one number.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping
from itertools import accumulate, pairwise
from time import perf_counter

from csd.models.session import Run

WIDEST = 65  # a block of 64 tokens and the one before it
WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 65)  # measured; between them lie straight lines
SEEN = 64  # tokens in the cache while measuring
WARM = 1.0  # seconds per model at most for a first run at every width
REPEATS = 3

Lanes = Mapping[str, Callable[[int], Run]]


def measured(lanes: Lanes, contexts: Mapping[str, int]) -> dict[str, tuple[float, ...]]:
    """For each model the seconds of a run over 1, 2, ... `WIDEST` tokens, choice of the tokens included.

    Every width runs once before, as kernels are chosen then. The models take turns, because a run is slower after one of
    another model, whose weights have taken its place in the caches: it counts one part in four. The fastest repeat counts.
    """
    timers = {name: _timer(lane, contexts[name]) for name, lane in lanes.items()}
    reach = {name: _warmed(timed, contexts[name] - _seen(contexts[name])) for name, timed in timers.items()}
    found: dict[str, dict[int, float]] = {name: {} for name in timers}
    for _ in range(REPEATS):
        for width in WIDTHS:
            for name, timed in timers.items():
                if width <= reach[name]:
                    cold, warm = timed(width), timed(width)
                    seconds = min(cold, (cold + 3 * warm) / 4)
                    found[name][width] = min(seconds, found[name].get(width, seconds))
    return {name: _table(times) for name, times in found.items()}


def best_threads(lane: Callable[[int], Run], context: int, most: int) -> int:
    """The number of threads, 1, 2, 4, ... up to `most`, that runs a model fastest at the widths of decoding."""
    import torch

    counts = sorted({min(2**power, most) for power in range(most.bit_length() + 1)})
    timed, best = _timer(lane, context), {}
    widths = [width for width in (1, 8) if width <= context - _seen(context)]
    for _ in range(REPEATS):
        for count in counts:
            torch.set_num_threads(count)
            seconds = sum(min(timed(width) for _ in range(REPEATS)) for width in widths)
            best[count] = min(seconds, best.get(count, seconds))
    return min(counts, key=best.__getitem__)


def _seen(context: int) -> int:
    """Tokens in the cache while measuring."""
    return min(SEEN, context // 2)


def _timer(lane: Callable[[int], Run], context: int) -> Callable[[int], float]:
    """A function that runs the model over so many tokens behind some text, and returns the seconds that it took."""
    seen = _seen(context)
    run = lane(min(context, seen + WIDEST))
    if seen:
        run([0] * seen, 0, 1).argmax(-1).tolist()

    def timed(width: int) -> float:
        started = perf_counter()
        logits = run([0] * width, seen, width)
        logits.argmax(-1).tolist()
        logits[-1].topk(2).values.tolist()
        return perf_counter() - started

    return timed


def _warmed(timed: Callable[[int], float], room: int) -> int:
    """Run at every width up to `room` while there is time; the widest that was reached."""
    started = perf_counter()
    for width in range(1, min(WIDEST, room) + 1):
        timed(width)
        if perf_counter() - started > WARM:
            return width
    return min(WIDEST, room)


def _table(times: Mapping[int, float]) -> tuple[float, ...]:
    """Seconds by width from those measured: straight lines between and beyond them, no width dearer than a wider one."""
    widths = sorted(times)
    if len(widths) == 1:
        return (times[widths[0]],) * WIDEST
    calm = list(accumulate((times[width] for width in reversed(widths)), min))[::-1]
    lines = [(a, x, (y - x) / (b - a)) for (a, b), (x, y) in zip(pairwise(widths), pairwise(calm))]

    def at(width: int) -> float:
        start, seconds, slope = lines[min(max(0, bisect(widths, width) - 1), len(lines) - 1)]
        return seconds + slope * (width - start)

    return tuple(at(width) for width in range(1, WIDEST + 1))
