"""How long a forward pass of each model takes, by the length of the context and by its width."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from csd.decoding.tokens import TokenSequence
from csd.models.messages import Progress, ignore

if TYPE_CHECKING:
    from csd.models.family import Family

WIDTHS = (1, 2, 4, 8, 16, 24, 32)
WIDTHS_AT = 256  # tokens of context at which widths are measured
SHORTEST = 64  # tokens of the shortest context; each further one is twice as long
REPEATS = 7  # timed passes per point; the median counts

Points = tuple[tuple[int, float], ...]
"""(tokens, seconds) of each measurement."""


@dataclass(frozen=True)
class ForwardTimes:
    """Seconds of one forward pass of a model: over one token by length of the context, and by number of tokens.

    `kernels` are the linear maps of a model on a CPU, each with the kernel that was chosen for it when it was loaded.
    """

    model: str
    by_context: Points
    by_width: Points
    kernels: tuple[tuple[str, str], ...] = ()


def measure_forward_times(family: Family, progress: Progress = ignore) -> tuple[ForwardTimes, ...]:
    """The times of each model, the target first, through sessions as lanes use them. The text is random ids."""
    found = []
    for name in reversed([level.name for level in family.levels]):
        progress(f"timing forward passes of {name}")
        longest = min(family.contexts[name], family.context)
        ids = random.Random(0).choices(range(family.vocab), k=longest)
        by_context = tuple((length, _seconds(family, name, ids, length, [1])[0]) for length in _lengths(longest))
        at = min(WIDTHS_AT, longest // 2)
        widths = [width for width in WIDTHS if at + width <= longest]
        by_width = tuple(zip(widths, _seconds(family, name, ids, at, widths), strict=True))
        kernels = tuple(getattr(family.backends.get(name), "kernels", {}).items())
        found.append(ForwardTimes(name, by_context, by_width, kernels))
    return tuple(found)


def _lengths(longest: int) -> list[int]:
    """64, 128, ... and the longest context with room for one more token."""
    lengths = [SHORTEST]
    while 2 * lengths[-1] < longest:
        lengths.append(2 * lengths[-1])
    return sorted({min(length, longest - 1) for length in (*lengths, longest - 1)})


def _seconds(family: Family, name: str, ids: Sequence[int], context: int, widths: Sequence[int]) -> list[float]:
    """Seconds of a forward pass of each width at this context, in a session without room to spare."""
    session = family.session(name, context + max(widths))
    text = TokenSequence(list(ids[:context]))
    session.prefill(text)
    found = []
    for width in widths:
        longer = text + tuple(ids[:width])
        times = []
        for _ in range(REPEATS + 1):
            started = perf_counter()
            session.logits(longer, context + 1).argmax(-1).tolist()
            times.append(perf_counter() - started)
        found.append(median(times[1:]))
    session.close()
    return found
