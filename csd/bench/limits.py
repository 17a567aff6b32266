"""What a device can do at best, and what a family's models cost on it: the frame for every speed that `bench` prints."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from csd.decoding.tokens import TokenSequence
from csd.models.catalog import BYTES
from csd.models.messages import Progress, ignore

if TYPE_CHECKING:
    from csd.models.backends.interface import Lane
    from csd.models.family import Family

SECONDS = 0.3  # how long one figure is measured; the best run counts, as it is a limit
COPIED = {"cpu": 256 * 2**20, "cuda": 2 * 2**30}  # bytes of the copied buffer: far more than any cache holds
SQUARE = {"cpu": 1024, "cuda": 8192}  # rows of the multiplied matrices
WIDTHS = (1, 2, 4, 8, 16, 24, 32)
FIRST = 64  # tokens of the shortest context of a growth curve; each next one is twice as long
WIDE_AT = 256  # tokens of context at which widths are measured
WAITING = 8  # lanes of a model that may stand ready on a GPU, at most
FORWARDS = 7  # timed forwards a point; the median counts


@dataclass(frozen=True)
class Limits:
    """What the device reached: bytes per second of a large copy and of reading the target's weights, and FLOP per second.

    `read` is measured on CPUs only, on as many bytes as one target run reads: they may lie in a cache. `weights` are those
    bytes, `cached` the key-value bytes of one token, both of the target.
    """

    copy: float
    read: float | None
    flops: float
    weights: int
    cached: int

    def autoregressive(self, context: float) -> float:
        """Tokens per second if a target run took no longer than reading its weights and the keys and values of `context`."""
        return (self.read or self.copy) / (self.weights + self.cached * context)


@dataclass(frozen=True)
class Curve:
    """Seconds of one forward of a model: of one token against the context's length, and of several against their number."""

    model: str
    contexts: tuple[tuple[int, float], ...]
    widths: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Cache:
    """Key-value bytes of one lane of a model with room for `tokens`: as held, and by the formula.

    The formula is 2 x layers x key-value heads x head size x bytes x tokens. On a GPU a lane also holds the padding of its
    widest pass and what its recorded passes return.
    """

    model: str
    tokens: int
    held: int
    formula: int


@dataclass(frozen=True)
class Memory:
    """Bytes: each model's cache in a lane, the process's resident size, and the peak that a GPU allocated (None: no GPU)."""

    caches: tuple[Cache, ...]
    resident: int
    allocated: int | None


def limits(family: Family) -> Limits:
    """Measures the family's device; takes about a second."""
    import torch

    model = family.models["target"]
    kind = torch.device(family.device).type
    weights = read_bytes(model)
    return Limits(
        copy=_copy(torch, family.device, COPIED[kind]),
        read=_read(torch, weights) if kind == "cpu" else None,
        flops=_multiply(torch, family.device, getattr(torch, family.dtype), SQUARE[kind]),
        weights=weights,
        cached=family.spec.target.cache * BYTES[family.dtype],
    )


def read_bytes(model: Any) -> int:
    """Bytes of weights that one run reads: all but the embedding table, of which one row a token is read.

    A table that is also the head is read whole.
    """
    table, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    tied = table.data_ptr() == head.data_ptr()
    return sum(weight.nbytes for weight in model.parameters()) - (0 if tied else table.nbytes)


def growth(family: Family, progress: Progress = ignore) -> list[Curve]:
    """A curve for each model, through sessions as the lanes use them. Texts are random ids: the time is the same."""
    curves = []
    for name in reversed([level.name for level in family.levels]):
        progress(f"growth: {name}")
        limit = min(family.contexts[name], family.context)
        ids = random.Random(0).choices(range(family.vocab), k=limit)
        contexts = tuple((length, _forwards(family, name, ids, length, [1])[0]) for length in _lengths(limit))
        at = min(WIDE_AT, limit // 2)
        fitting = [width for width in WIDTHS if at + width <= limit]
        widths = tuple(zip(fitting, _forwards(family, name, ids, at, fitting)))
        curves.append(Curve(name, contexts, widths))
    return curves


def memory(family: Family, tokens: int) -> Memory:
    """What a lane with room for `tokens` holds, for each model, and what the process and the device hold now."""
    import torch

    gpu = family.device.startswith("cuda")
    caches = []
    for level in reversed(family.levels):
        spec = next(model for model in family.spec.models if model.name == level.name)
        room = min(tokens, family.contexts[level.name])
        caches.append(
            Cache(level.name, room, _held(torch, family, level.name, room), spec.cache * BYTES[level.dtype] * room)
        )
    return Memory(tuple(caches), resident(), torch.cuda.max_memory_allocated(family.device) if gpu else None)


def resident() -> int:
    """Bytes of memory that this process has in use; where the system does not say, the most it ever had."""
    import resource

    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


# ---- one figure each


def _best(run: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """Seconds of the fastest of several runs, after two that do not count."""
    found: list[float] = []
    begun = perf_counter()
    while len(found) < 5 or perf_counter() - begun < SECONDS:
        started = perf_counter()
        run()
        wait()
        found.append(perf_counter() - started)
    return min(found[2:])


def _waiting(torch: Any, device: str) -> Callable[[], Any]:
    return (lambda: torch.cuda.synchronize(device)) if device.startswith("cuda") else (lambda: None)


def _copy(torch: Any, device: str, size: int) -> float:
    """Bytes read and written per second."""
    source = torch.ones(size // 4, device=device)
    to = torch.empty_like(source)
    return 2 * size / _best(lambda: to.copy_(source), _waiting(torch, device))


def _read(torch: Any, size: int) -> float:
    """Bytes read per second: the dot product of two halves, which reads all and writes nothing."""
    one, other = torch.ones(2, size // 8)
    return size / _best(lambda: torch.dot(one, other), lambda: None)


def _multiply(torch: Any, device: str, dtype: Any, rows: int) -> float:
    """Floating-point operations per second of a product of two square matrices."""
    one, other = torch.ones(2, rows, rows, device=device, dtype=dtype)
    return 2 * rows**3 / _best(lambda: one @ other, _waiting(torch, device))


def _lengths(limit: int) -> list[int]:
    """64, 128, ... and the longest context in which one more token has room."""
    lengths = [FIRST]
    while 2 * lengths[-1] < limit:
        lengths.append(2 * lengths[-1])
    return sorted({min(length, limit - 1) for length in (*lengths, limit - 1)})


def _forwards(family: Family, name: str, ids: Sequence[int], context: int, widths: Sequence[int]) -> list[float]:
    """Seconds of a forward of each width behind so many tokens, in a session that is no longer than it must be."""
    session = family.session(name, context + max(widths))
    text = TokenSequence(list(ids[:context]))
    session.prefill(text)
    found = []
    for width in widths:
        longer = text + tuple(ids[:width])
        times = []
        for _ in range(FORWARDS + 1):
            started = perf_counter()
            session.logits(longer, context + 1).argmax(-1).tolist()
            times.append(perf_counter() - started)
        found.append(median(times[1:]))
    session.close()
    return found


def _held(torch: Any, family: Family, name: str, tokens: int) -> int:
    """Bytes that a lane keeps after its first run: on a GPU what is allocated, else the storages that are still there."""
    if family.device.startswith("cuda"):
        lanes: list[Lane] = []
        try:
            while (
                len(lanes) <= WAITING
            ):  # lanes that stand ready were allocated before; the first one beyond them shows
                before = torch.cuda.memory_allocated(family.device)
                lanes.append(family.backends[name].open_lane(tokens))
                lanes[-1].run([0], 0, 1).argmax().item()
                if (grown := torch.cuda.memory_allocated(family.device) - before) > 0:
                    return grown
            return 0
        finally:
            for lane in lanes:
                lane.release()
    from torch.multiprocessing.reductions import StorageWeakRef
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    known: set[int] = set()  # storages that were there before: weights, and tables that views are taken of
    made: dict[int, tuple[Any, int]] = {}

    def storages(values: Any) -> list[Any]:
        leaves = [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]
        return [leaf.untyped_storage() for leaf in leaves if leaf.layout is torch.strided]

    class Watch(TorchDispatchMode):
        """Takes down every storage that an operation makes."""

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            known.update(one._cdata for one in storages((args, kwargs)) if one._cdata not in made)
            out = func(*args, **(kwargs or {}))
            made.update(
                {one._cdata: (StorageWeakRef(one), one.nbytes()) for one in storages(out) if one._cdata not in known}
            )
            return out

    with Watch():
        lane = family.backends[name].open_lane(tokens)
        lane.run([0], 0, 1)
    held = sum(size for reference, size in made.values() if not reference.expired())
    del lane
    return held
