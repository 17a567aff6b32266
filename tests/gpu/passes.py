"""One model's pass by width, at the shapes of `csd bench --scale`: launched, captured, and compiled and captured."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM
from transformers.utils import logging

from csd.bench.enlarge import SHAPES, enlarge_model
from csd.bench.limits import weight_bytes_per_pass
from csd.models.backends.cuda_graphs import WIDTHS, forward
from csd.paths import ROOT
from gpu.figures import Figure, Figures, seconds
from gpu.size import size_here
from gpu.timing import capture, launched_seconds, work_seconds

SLOTS, CACHED = 1024, 200  # of a lane that is kept ready; the text in it
LAUNCHED_WIDTHS = (1, 8)
AGREEMENT = "largest difference of a row from a plain pass"
COMPILED_WIDTHS = tuple(sorted(WIDTHS, key=lambda width: (width not in (1, 8, 16), width)))
"""Those that matter most are compiled first, since compiling may not come to an end."""


@dataclass(frozen=True)
class StaticLane:
    """A model with the buffers of one lane; `fed` is how many tokens are cached, then the ids."""

    model: Any
    fed: Tensor
    keys: list[Tensor]
    values: list[Tensor]

    def at(self, width: int, static_forward: Callable[..., Tensor] = forward) -> Tensor:
        """One pass over `width` ids. [width, V]"""
        last = self.model.config.max_position_embeddings - 1
        return static_forward(self.model, self.fed[: 1 + width], self.keys, self.values, last)


def main(device: str, path: Path, name: str) -> None:
    figures, model = Figures(path), load(name, device)
    lane, size = open_lane(model), weight_bytes_per_pass(model)
    with torch.inference_mode():
        figures.measure(AGREEMENT, lambda: agreement(lane))
        for width in LAUNCHED_WIDTHS:
            what, run = f"{width} wide, launched", partial(lane.at, width)
            figures.measure(what, partial(_launched, what, run, size, device))
        if device != "cuda":
            return
        for width in WIDTHS:
            what, run = f"{width} wide, captured", partial(lane.at, width)
            figures.measure(what, partial(_captured, what, run, size))
        figures.measure("kernels of a pass", lambda: _kernels(lane, path.with_suffix(".kernels.txt")))
        compiled = torch.compile(forward, dynamic=False, fullgraph=True)
        with torch._dynamo.config.patch(recompile_limit=256):
            for width in COMPILED_WIDTHS:
                what = f"{width} wide, compiled and captured"
                figures.measure(what, partial(_compiled, what, lane, width, compiled, size))


def load(name: str, device: str) -> Any:
    """A model of the embedded family; on a GPU enlarged to the size that fits."""
    logging.disable_progress_bar()
    small = AutoModelForCausalLM.from_pretrained(
        ROOT / "assets" / "family" / name, dtype=torch.float32, attn_implementation="sdpa"
    ).eval()
    return enlarge_model(small, SHAPES[size_here()][name], device, torch.bfloat16) if device == "cuda" else small


@torch.inference_mode()
def open_lane(model: Any) -> StaticLane:
    """A lane that has read a text."""
    config = model.config
    shape = (1, config.num_key_value_heads, SLOTS, config.head_dim)
    keys, values = (
        [torch.zeros(shape, device=model.device, dtype=model.dtype) for _ in range(config.num_hidden_layers)]
        for _ in range(2)
    )
    lane = StaticLane(model, torch.zeros(1 + WIDTHS[-1], dtype=torch.long, device=model.device), keys, values)
    feed(lane, text(model, CACHED), 0)
    lane.fed[0] = CACHED
    return lane


def feed(lane: StaticLane, ids: Sequence[int], keep: int) -> Tensor:
    """The logits of these ids after the first `keep` cached tokens, in passes of the widest width."""
    rows = []
    for start in range(0, len(ids), WIDTHS[-1]):
        part = ids[start : start + WIDTHS[-1]]
        width = next(width for width in WIDTHS if width >= len(part))
        lane.fed[: 1 + len(part)] = torch.tensor([keep + start, *part], device=lane.fed.device)
        rows.append(lane.at(width)[: len(part)])
    return torch.cat(rows)


def text(model: Any, length: int) -> list[int]:
    return [7 * i % model.config.vocab_size for i in range(length)]


@torch.inference_mode()
def agreement(lane: StaticLane) -> Figure:
    """How far the rows of each width are from those of one plain pass: rounding, if nothing is wrong.

    The pool of graphs compares in the same way: rows without their mean, by norm.
    """
    ids = text(lane.model, CACHED + WIDTHS[-1])
    plain = _centred(lane.model(input_ids=torch.tensor([ids], device=lane.model.device), use_cache=False).logits[0])
    worst, best = {}, 0
    for width in WIDTHS:
        found = _centred(feed(lane, ids[CACHED : CACHED + width], CACHED))
        expected = plain[CACHED : CACHED + width]
        worst[width] = largest_difference(found, expected)
        best += int((found.argmax(-1) == expected.argmax(-1)).sum())
    widest = max(worst, key=worst.__getitem__)
    told = f"width {widest}; {best} of {sum(WIDTHS)} best tokens are equal"
    return Figure(AGREEMENT, 100 * worst[widest], "%", told)


def largest_difference(found: Tensor, expected: Tensor) -> float:
    """The norm of the difference over that of the expected row, of the row where it is largest."""
    return float(((found - expected).norm(dim=-1) / expected.norm(dim=-1)).max())


def _centred(rows: Tensor) -> Tensor:
    return rows.double() - rows.double().mean(-1, keepdim=True)


def _launched(what: str, run: Callable[[], Tensor], size: int, device: str) -> Figure:
    return seconds(what, launched_seconds(run, device), "ms", bytes=size)


def _captured(what: str, run: Callable[[], Tensor], size: int) -> Figure:
    return seconds(what, work_seconds([run], "cuda"), "ms", bytes=size)


def _compiled(what: str, lane: StaticLane, width: int, compiled: Callable[..., Tensor], size: int) -> Figure:
    """Its first call compiles; its rows are compared with those of the plain forward at the same width."""
    expected = _centred(lane.at(width))
    started = perf_counter()
    found = lane.at(width, compiled)
    torch.cuda.synchronize()
    spent = perf_counter() - started
    told = f"compiled in {spent:.0f} s, rows differ by {largest_difference(_centred(found), expected):.3%} at most"
    return seconds(what, work_seconds([partial(lane.at, width, compiled)], "cuda"), "ms", text=told, bytes=size)


def _kernels(lane: StaticLane, path: Path) -> Figure:
    """How many kernels a captured pass over one token starts; the file lists them by time."""
    from torch.profiler import ProfilerActivity, profile

    replay, kept = capture([partial(lane.at, 1)])
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        for _ in range(3):
            replay()
        torch.cuda.synchronize()
    del kept
    kernels = sorted(
        (one for one in found.key_averages() if one.device_time_total), key=lambda one: -one.device_time_total
    )
    lines = [f"{one.device_time_total / 3:10.1f} µs {one.count / 3:6.0f} x {one.key}" for one in kernels]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    count = sum(one.count for one in kernels) / 3
    return Figure("kernels of a pass", count, text=f"over one token; listed in {path.name}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
