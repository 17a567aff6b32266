"""An encoder-decoder (T5) as the engine knows models: one text, whose beginning the encoder reads.

A text is the prompt, the decoder's start token, and the answer. The encoder runs once, when the start token arrives;
from there on the decoder reads, over keys and values that are rewound in place. Those of the prompt are computed at the
decoder's first pass and kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import Cache, DynamicCache, EncoderDecoderCache, PreTrainedModel

from csd.models.backends.eager import InPlaceLayer


def prompt_length(ids: list[int], start: int) -> int | None:
    """Where the decoder's text begins: at the first start token that is not the first token; None if there is none."""
    return ids.index(start, 1) if start in ids[1:] else None


class DecoderText:
    """The decoder over one encoded prompt, with room for `capacity` tokens. Positions count from its start token."""

    def __init__(self, model: Any, prompt: list[int], capacity: int):
        self._model = model
        self._encoded = model.encoder(input_ids=torch.tensor([prompt], device=model.device)).last_hidden_state
        self._layers = [InPlaceLayer(capacity) for _ in range(model.config.num_decoder_layers)]
        self._cache = EncoderDecoderCache(Cache(layers=[*self._layers]), DynamicCache())
        self._scale = model.model_dim**-0.5 if getattr(model.config, "scale_decoder_outputs", False) else 1.0

    def logits(self, ids: list[int], keep: int, rows: int) -> Tensor:
        """Logits of the last `rows` ids, [rows, V], fed after `keep` cached tokens."""
        for layer in self._layers:
            layer.length = keep
        out = self._model.decoder(
            input_ids=torch.tensor([ids], device=self._model.device),
            encoder_hidden_states=self._encoded,
            past_key_values=self._cache,
            use_cache=True,
        )
        return self._model.lm_head(out.last_hidden_state[0, -rows:] * self._scale)  # only the rows that are asked for


class EncoderDecoderLane:
    """A model over an empty cache for texts of up to `capacity` tokens, prompt included.

    Nothing is predicted inside the prompt: rows of its tokens are NaN.
    """

    def __init__(self, model: PreTrainedModel, start: int, capacity: int):
        self._model, self._start, self._capacity = model, start, capacity
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
        length = prompt_length(ids, self._start)
        self._prompt, self._text = ids[:length], None
        if length is None:
            return []
        self._text = DecoderText(self._model, self._prompt, self._capacity - length)
        return ids[length:]

    def _undefined(self, rows: int) -> Tensor:
        return self._model.lm_head.weight.new_full((rows, self._model.config.vocab_size), math.nan)


@dataclass(frozen=True, eq=False)
class EncoderDecoderBackend:
    """Runs T5 and mT5, without preparation; `start` is the id that the decoder's text begins with."""

    model: PreTrainedModel
    start: int

    def open_lane(self, capacity: int) -> EncoderDecoderLane:
        return EncoderDecoderLane(self.model, self.start, capacity)
