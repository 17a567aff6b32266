"""The transformers forward over a cache that is written in place: any decoder-only model, any width, any device."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import Cache, DynamicLayer, PreTrainedModel


class InPlaceLayer(DynamicLayer):
    """Keys and values of one layer in a buffer of fixed size; rewinding sets a number.

    transformers' own dynamic layer copies everything that is cached at each step.
    """

    keys: Tensor
    values: Tensor

    def __init__(self, capacity: int):
        super().__init__()
        self.capacity, self.length = capacity, 0

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        self.dtype, self.device = key_states.dtype, key_states.device
        self.keys, self.values = (
            states.new_empty(*states.shape[:2], self.capacity, states.shape[3]) for states in (key_states, value_states)
        )
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args, **kwargs) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        end = self.length + key_states.shape[-2]
        self.keys[:, :, self.length : end] = key_states
        self.values[:, :, self.length : end] = value_states
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.length + query_length, 0

    def get_seq_length(self) -> int:
        return self.length


class EagerLane:
    """A model over an empty cache for texts of up to `capacity` tokens."""

    def __init__(self, model: PreTrainedModel, capacity: int):
        self._model = model
        self._layers = [InPlaceLayer(capacity) for _ in range(model.config.get_text_config().num_hidden_layers)]
        self._cache = Cache(layers=[*self._layers])

    @torch.inference_mode()
    def run(self, ids: list[int], keep: int, rows: int) -> Tensor:
        """A `ForwardFn`."""
        for layer in self._layers:
            layer.length = keep
        fed = torch.tensor([ids], device=self._model.device)
        out = self._model(input_ids=fed, past_key_values=self._cache, use_cache=True, logits_to_keep=rows)
        return out.logits[0, -rows:]

    def release(self) -> None:
        """Nothing to give back: the cache is freed with the lane."""


@dataclass(frozen=True, eq=False)
class EagerBackend:
    """Runs any decoder-only model, without preparation."""

    model: PreTrainedModel

    def open_lane(self, capacity: int) -> EagerLane:
        return EagerLane(self.model, capacity)
