"""The transformers forward over a cache that is written in place: any decoder-only model, any width, any device."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import Cache, DynamicLayer, PreTrainedModel

from csd.models.session import Run


class Layer(DynamicLayer):
    """Keys and values of one layer in a buffer; rewinding sets a number.

    transformers' own dynamic layer copies everything that is cached at each step.
    """

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


def lane(model: PreTrainedModel, capacity: int) -> Run:
    """The model over an empty cache for texts of up to `capacity` tokens."""
    layers = [Layer(capacity) for _ in range(model.config.get_text_config().num_hidden_layers)]
    cache = Cache(layers=layers)

    @torch.inference_mode()
    def run(ids: list[int], keep: int, rows: int) -> Tensor:
        for layer in layers:
            layer.length = keep
        fed = torch.tensor([ids], device=model.device)
        return model(input_ids=fed, past_key_values=cache, use_cache=True, logits_to_keep=rows).logits[0, -rows:]

    return run
