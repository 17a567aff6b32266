"""Attention of few queries over a lane's keys and values: by kernel, and with or without the slots beyond the text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from gpu.figures import Figure, Figures, seconds
from gpu.timing import work_seconds

QUERIES = (1, 8)


@dataclass(frozen=True)
class Case:
    """Attention over `slots` of which the first `real` hold text."""

    heads: int
    kv_heads: int
    head: int
    slots: int
    real: int

    @property
    def name(self) -> str:
        return f"{self.heads}/{self.kv_heads} heads of {self.head}, {self.real} of {self.slots} slots"


@dataclass(frozen=True)
class Layer:
    """Keys and values, [1, kv_heads, slots, head]."""

    keys: Tensor
    values: Tensor


CASES = {
    "cuda": tuple(
        Case(*heads, slots, 200) for heads in ((64, 64, 64), (32, 8, 128)) for slots in (1024, 256)
    ),  # the 7B shape; Llama 3 8B's
    "cpu": (Case(4, 2, 8, 32, 12),),
}
LAYERS = {"cuda": 32, "cpu": 2}
KERNELS = {
    "cuda": (SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH),
    "cpu": (SDPBackend.MATH,),
}


@torch.no_grad()
def main(device: str, path: Path) -> None:
    figures, dtype = Figures(path), torch.bfloat16 if device == "cuda" else torch.float32
    for case in CASES[device]:
        make = partial(torch.randn, 1, case.kv_heads, case.slots, case.head, device=device, dtype=dtype)
        layers = [Layer(make(), make()) for _ in range(LAYERS[device])]
        for count in QUERIES:
            query = torch.randn(1, case.heads, count, case.head, device=device, dtype=dtype)
            name = f"{case.name}, queries {count}"
            for kernel in KERNELS[device]:
                what = f"{name}, {kernel.name.removesuffix('_ATTENTION').lower()}"
                figures.measure(what, partial(_masked, what, kernel, case, query, layers, device))
            if device == "cuda":
                what = f"{name}, flash with the length on the device"
                figures.measure(what, partial(_flash, what, case, query, layers))


def _masked(what: str, kernel: SDPBackend, case: Case, query: Tensor, layers: list[Layer], device: str) -> Figure:
    """As the captured forward does it: all slots, a mask, and keys and values repeated for the heads that share them."""
    mask = masked_scores(case, query)

    def attend(layer: Layer) -> Tensor:
        return F.scaled_dot_product_attention(query, *_repeated(case, layer), attn_mask=mask)

    with sdpa_kernel(kernel):
        taken = work_seconds([partial(attend, layer) for layer in layers], device)
    return seconds(what, taken, bytes=needed_bytes(case, query))


def _flash(what: str, case: Case, query: Tensor, layers: list[Layer]) -> Figure:
    """PyTorch's own flash kernel without a mask: it reads the text's slots only, and shares heads without a copy."""
    packed = [Layer(*(rows[0].transpose(0, 1).contiguous() for rows in (one.keys, one.values))) for one in layers]
    attend = _flash_call(case, query)
    taken = work_seconds([partial(attend, layer) for layer in packed], "cuda")
    keys, values = (rows.float() for rows in _repeated(case, layers[0]))
    exact = F.scaled_dot_product_attention(query.float(), keys, values, attn_mask=masked_scores(case, query).float())
    error = float((attend(packed[0]).float() - exact[0].transpose(0, 1)).norm() / exact.norm())
    return seconds(what, taken, text=f"error {error:.1%}", bytes=needed_bytes(case, query))


def _flash_call(case: Case, query: Tensor) -> Callable[[Layer], Tensor]:
    count, slots = query.shape[2], case.slots
    queries = query[0].transpose(0, 1).contiguous()
    ends, key_ends = (torch.tensor([0, end], dtype=torch.int32, device=query.device) for end in (count, slots))
    used = torch.tensor([case.real], dtype=torch.int32, device=query.device)

    def attend(layer: Layer) -> Tensor:
        return torch.ops.aten._flash_attention_forward(
            queries, layer.keys, layer.values, ends, key_ends, count, slots, 0.0, True, False, seqused_k=used
        )[0]

    return attend


def masked_scores(case: Case, query: Tensor) -> Tensor:
    """What is added to the scores, [1, 1, queries, slots]: 0 up to each query's own position, then minus infinity."""
    count = query.shape[2]
    last = case.real - count + torch.arange(count, device=query.device)
    hidden = torch.arange(case.slots, device=query.device) > last[:, None]
    return torch.zeros(hidden.shape, device=query.device, dtype=query.dtype).masked_fill(hidden, -torch.inf)[None, None]


def _repeated(case: Case, layer: Layer) -> tuple[Tensor, Tensor]:
    times = case.heads // case.kv_heads
    if times == 1:
        return layer.keys, layer.values
    return layer.keys.repeat_interleave(times, 1), layer.values.repeat_interleave(times, 1)


def needed_bytes(case: Case, query: Tensor) -> int:
    """Bytes of the keys and values of the text, which any kernel must read."""
    return 2 * case.kv_heads * case.real * case.head * query.dtype.itemsize


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
