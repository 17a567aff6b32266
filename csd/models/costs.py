"""What a run over w tokens costs on this device, measured when a family is opened; and with how many threads to run.

Widths round up differently on every device (on a CPU 8 tokens cost about 1.4 times one, on a GPU nearly nothing more), so
whoever chooses how long drafts are needs the table, not one number.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from time import perf_counter

from csd.models.session import Run

WIDEST = 65  # a block of 64 tokens and the one before it
SEEN = 64  # tokens in the cache while measuring


def measured(lane: Callable[[int], Run], seconds: float = 1.5) -> tuple[float, ...]:
    """Seconds of a run over 1, 2, ... `WIDEST` tokens, choice of the tokens included.

    Each width runs twice and the second run counts: kernels are chosen at the first. After `seconds` the wider ones are
    taken from a straight line through the last ones.
    """
    run, started, times = lane(SEEN + WIDEST), perf_counter(), []
    run(list(range(SEEN)), 0, 1).argmax(-1).tolist()
    for width in range(1, WIDEST + 1):
        times.append(min(_timed(run, width) for _ in range(2)))
        if perf_counter() - started > seconds and width >= 2:
            break
    slope = max(0.0, (times[-1] - times[0]) / (len(times) - 1))
    times += [times[-1] + slope * more for more in range(1, WIDEST - len(times) + 1)]
    # No width costs more than a wider one: what was slower was disturbed.
    return tuple(accumulate(reversed(times), min))[::-1]


def best_threads(lane: Callable[[int], Run], most: int) -> int:
    """The number of threads, 1, 2, 4, ... up to `most`, that runs a model fastest at the widths of decoding."""
    import torch

    counts = sorted({min(2**power, most) for power in range(most.bit_length() + 1)})
    run, best = lane(SEEN + WIDEST), {}
    run(list(range(SEEN)), 0, 1).argmax(-1).tolist()
    for _ in range(3):
        for count in counts:
            torch.set_num_threads(count)
            spent = sum(min(_timed(run, width) for _ in range(3)) for width in (1, 8))
            best[count] = min(spent, best.get(count, spent))
    return min(counts, key=best.__getitem__)


def _timed(run: Run, width: int) -> float:
    started = perf_counter()
    logits = run(list(range(width)), SEEN, width)
    logits.argmax(-1).tolist()
    logits[-1].topk(2).values.tolist()
    return perf_counter() - started
