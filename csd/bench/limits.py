"""What a device can do at best: the frame for every speed of a benchmark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from csd.models.memory import BYTES

if TYPE_CHECKING:
    from csd.models.family import Family

SECONDS = 0.3  # how long one figure is measured; the best run counts, since it is a limit
WARMUP_RUNS = 2
RUNS_IN_A_ROW = 10  # on a GPU, between two events
COPIED_BYTES = {"cpu": 256 * 2**20, "cuda": 2 * 2**30}  # far more than any cache holds
MATRIX_ROWS = {"cpu": 1024, "cuda": 8192}


@dataclass(frozen=True)
class Limits:
    """What the device reached: bytes per second of a large copy and of reading the target's weights, FLOP per second.

    `read_rate` is measured on CPUs only, over as many bytes as one target pass reads, since they may be in a cache.
    `weight_bytes` are those bytes, `cache_bytes` the KV cache of one token, both of the target.
    """

    copy_rate: float
    read_rate: float | None
    flops: float
    weight_bytes: int
    cache_bytes: int

    def autoregressive_speed(self, context: float) -> float:
        """Tokens per second if a target pass took no longer than reading its weights and the KV cache of `context`."""
        return (self.read_rate or self.copy_rate) / (self.weight_bytes + self.cache_bytes * context)


def measure_limits(family: Family) -> Limits:
    """Measure the family's device; takes about a second."""
    import torch

    kind = torch.device(family.device).type
    weights = weight_bytes_per_pass(family.reference("target"))
    return Limits(
        copy_rate=measure_copy_rate(family.device, COPIED_BYTES[kind]),
        read_rate=_read_rate(weights) if kind == "cpu" else None,
        flops=measure_flops(family.device, family.dtype, MATRIX_ROWS[kind]),
        weight_bytes=weights,
        cache_bytes=family.spec.target.cache * BYTES[family.dtype],
    )


def weight_bytes_per_pass(model: Any) -> int:
    """Bytes of weights that one pass reads: all but the embedding table, of which it reads one row per token.

    A table that is also the output head is read completely. Of an encoder-decoder only the decoder counts, without the
    keys and values of the prompt, which are cached.
    """
    if model.config.is_encoder_decoder:
        once = [block.layer[1].EncDecAttention for block in model.decoder.block]
        cached = sum(one.k.weight.nbytes + one.v.weight.nbytes for one in once)
        table = model.decoder.embed_tokens.weight.nbytes
        return sum(w.nbytes for w in model.decoder.parameters()) - table - cached + model.lm_head.weight.nbytes
    table, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    tied = table.data_ptr() == head.data_ptr()
    return sum(weight.nbytes for weight in model.parameters()) - (0 if tied else table.nbytes)


def measure_copy_rate(device: str, size: int) -> float:
    """Bytes read and written per second while `size` bytes are copied. The bytes are random, as weights are."""
    import torch

    source = torch.empty(size // 4, device=device).normal_()
    target = torch.empty_like(source)
    return 2 * size / _best_seconds(lambda: target.copy_(source), device)


def measure_flops(device: str, dtype: str, rows: int) -> float:
    """Floating-point operations per second of a product of two square matrices.

    They are random: a GPU draws less power on equal numbers and then runs at a higher clock.
    """
    import torch

    one, other = torch.empty(2, rows, rows, device=device, dtype=getattr(torch, dtype)).normal_()
    return 2 * rows**3 / _best_seconds(lambda: one @ other, device)


def _read_rate(size: int) -> float:
    """Bytes read per second: the dot product of two halves reads everything and writes nothing."""
    import torch

    one, other = torch.ones(2, size // 8)
    return size / _best_seconds(lambda: torch.dot(one, other), "cpu")


def _best_seconds(run: Callable[[], Any], device: str) -> float:
    """Seconds of the fastest of several measurements of a run, after a warm-up."""
    on_gpu = device.startswith("cuda")
    found: list[float] = []
    begun = perf_counter()
    while len(found) < WARMUP_RUNS + 3 or perf_counter() - begun < SECONDS:
        found.append(_gpu_seconds(run, device) if on_gpu else _host_seconds(run))
    return min(found[WARMUP_RUNS:])


def _host_seconds(run: Callable[[], Any]) -> float:
    started = perf_counter()
    run()
    return perf_counter() - started


def _gpu_seconds(run: Callable[[], Any], device: str) -> float:
    """Seconds of one of several runs that follow each other on the GPU, by its own clock: no launch is in between."""
    import torch

    stream = torch.cuda.current_stream(device)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record(stream)
    for _ in range(RUNS_IN_A_ROW):
        run()
    end.record(stream)
    end.synchronize()
    return begin.elapsed_time(end) / 1000 / RUNS_IN_A_ROW
