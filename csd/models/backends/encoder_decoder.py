"""An encoder-decoder (T5) as the engine knows models: one text, whose beginning the encoder reads.

A text is the prompt, the decoder's start token, and the answer. The encoder runs once, when the start token arrives;
from there on the decoder reads, over keys and values that are rewound in place. Those of the prompt are computed at the
decoder's first pass and kept.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import Cache, DynamicCache, EncoderDecoderCache, PreTrainedModel

from csd.models.backends.eager import InPlaceLayer
from csd.models.backends.kernel_choice import Choice, choose_kernels, pack
from csd.models.backends.linear import Kernel, Linear, cpu_kernels


def prompt_length(ids: list[int], start: int) -> int | None:
    """Where the decoder's text begins: at the first start token that is not the first token; None if there is none."""
    return ids.index(start, 1) if start in ids[1:] else None


@dataclass(frozen=True, eq=False, repr=False)
class EncoderDecoderBackend:
    """T5 or mT5 in its parts. `start` is the id that the decoder's text begins with, `rows` the width of its logits.

    `model` is transformers' own; None where `decoder` has been changed, so that nobody takes that for the original.
    """

    encoder: Any
    decoder: Any
    head: Linear
    start: int
    rows: int
    model: PreTrainedModel | None

    def open_lane(self, capacity: int) -> EncoderDecoderLane:
        return EncoderDecoderLane(self, capacity)


class MappedLinear(torch.nn.Module):
    """A linear map in the place of a layer; its weights have another layout, so it does not show them."""

    weight = None

    def __init__(self, linear: Linear):
        super().__init__()
        self.linear = linear

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x.flatten(0, -2)).unflatten(0, x.shape[:-1])


def take_apart(model: Any, start: int) -> EncoderDecoderBackend:
    """A backend of this model. In float32 and float64 on a CPU the decoder's weights are packed, one after another.

    The model is then no longer transformers': whoever passes it gives it up.
    """
    config = model.config
    scale = model.model_dim**-0.5 if getattr(config, "scale_decoder_outputs", False) else 1.0
    linear = isinstance(model.lm_head, torch.nn.Linear)  # not in a quantised copy
    packs = linear and model.device.type == "cpu" and model.dtype in (torch.float32, torch.float64)
    project: Linear = model.lm_head
    if packs:
        head, kernels = model.lm_head.weight.detach(), cpu_kernels(model.dtype)
        project = pack(head, choose_kernels(kernels, [head], layouts=1))
        _pack_linears(model.decoder, _choices(model.decoder, kernels))
    return EncoderDecoderBackend(
        encoder=model.encoder,
        decoder=model.decoder,
        head=lambda x: project(x * scale),
        start=start,
        rows=config.vocab_size,
        model=None if packs else model,
    )


def _choices(module: torch.nn.Module, kernels: Sequence[Kernel]) -> dict[torch.Size, Choice]:
    """The kernels for each shape of weight in a module."""
    weights: dict[torch.Size, list[Tensor]] = defaultdict(list)
    for part in module.modules():
        if isinstance(part, torch.nn.Linear):
            weights[part.weight.shape].append(part.weight.detach())
    return {shape: choose_kernels(kernels, some, layouts=1) for shape, some in weights.items()}


def _pack_linears(module: torch.nn.Module, choices: Mapping[torch.Size, Choice]) -> None:
    for name, child in module.named_children():
        if isinstance(child, torch.nn.Linear):
            setattr(module, name, MappedLinear(pack(child.weight.detach(), choices[child.weight.shape])))
        else:
            _pack_linears(child, choices)


class DecoderText:
    """The decoder over one encoded prompt, with room for `capacity` tokens. Positions count from its start token."""

    def __init__(self, backend: EncoderDecoderBackend, prompt: list[int], capacity: int):
        self._backend = backend
        fed = torch.tensor([prompt], device=backend.encoder.device)
        self._encoded = backend.encoder(input_ids=fed).last_hidden_state
        self._layers = [InPlaceLayer(capacity) for _ in backend.decoder.block]
        self._cache = EncoderDecoderCache(Cache(layers=[*self._layers]), DynamicCache())

    def logits(self, ids: list[int], keep: int, rows: int) -> Tensor:
        """Logits of the last `rows` ids, [rows, V], fed after `keep` cached tokens."""
        for layer in self._layers:
            layer.length = keep
        out = self._backend.decoder(
            input_ids=torch.tensor([ids], device=self._encoded.device),
            encoder_hidden_states=self._encoded,
            past_key_values=self._cache,
            use_cache=True,
        )
        return self._backend.head(out.last_hidden_state[0, -rows:])  # only the rows that are asked for


class EncoderDecoderLane:
    """A model over an empty cache for texts of up to `capacity` tokens, prompt included.

    Nothing is predicted inside the prompt: rows of its tokens are NaN.
    """

    def __init__(self, backend: EncoderDecoderBackend, capacity: int):
        self._backend, self._capacity = backend, capacity
        self._prompt: list[int] = []
        self._text: DecoderText | None = None  # None while the prompt is not complete

    @torch.inference_mode()
    def run(self, ids: list[int], keep: int, rows: int) -> Tensor:
        """A `ForwardFn`."""
        if self._text is None or keep < len(self._prompt):
            ids, keep = self._read_prompt(ids, keep), len(self._prompt)
        if self._text is None:
            return self._undefined(rows)
        logits = self._text.logits(ids, keep - len(self._prompt), min(rows, len(ids)))
        return torch.cat([self._undefined(rows - len(ids)), logits]) if rows > len(ids) else logits

    def release(self) -> None:
        """Nothing to give back: the caches are freed with the lane."""

    def _read_prompt(self, ids: list[int], keep: int) -> list[int]:
        """Read more of the prompt, or another one, and encode it once it is complete; returns what follows it."""
        ids = self._prompt[:keep] + ids
        length = prompt_length(ids, self._backend.start)
        self._prompt, self._text = ids[:length], None
        if length is None:
            return []
        self._text = DecoderText(self._backend, self._prompt, self._capacity - length)
        return ids[length:]

    def _undefined(self, rows: int) -> Tensor:
        encoder = self._backend.encoder
        return torch.full((rows, self._backend.rows), math.nan, device=encoder.device, dtype=encoder.dtype)
