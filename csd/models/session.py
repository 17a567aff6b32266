"""One lane's view of a decoder-only transformers model: tokens in, logits out, the cache its own secret."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import Cache, DynamicLayer, PreTrainedModel

from csd.decoding.sequence import Sequence


class Layer(DynamicLayer):
    """Keys and values of one layer in a buffer that is written in place; rewinding sets a number.

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


class Session:
    """A model with the keys and values of one lane's text. Weights are shared between sessions, caches never.

    `vocab` is the width of the rows that come back (models of one family pad theirs differently), `context` the longest
    text the model can read, `capacity` the longest text of this lane, in tokens.
    """

    def __init__(self, name: str, model: PreTrainedModel, vocab: int, context: int, capacity: int):
        self.name, self.context = name, context
        self._model, self._vocab = model, vocab
        self._layers = [Layer(min(capacity, context)) for _ in range(model.config.get_text_config().num_hidden_layers)]
        self._cache = Cache(layers=self._layers)
        self._fixed = 0  # committed tokens that are cached
        self._tail: list[int] = []  # speculative tokens cached after them

    @torch.inference_mode()
    def logits(self, sequence: Sequence, since: int) -> Tensor:
        """Rows for positions since .. len(sequence), [len(sequence) - since + 1, vocab]; row j follows since + j tokens."""
        keep = min(self._fixed + self._agreed(sequence), since - 1)
        ids = sequence.since(keep)
        for layer in self._layers:
            layer.length = keep
        rows = len(sequence) - since + 1
        out = self._model(
            input_ids=torch.tensor([ids], device=self._model.device),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=rows,
        )
        self._fixed = len(sequence.committed)
        self._tail = list(sequence.tail)
        return out.logits[0, -rows:, : self._vocab]

    def read(self, sequence: Sequence) -> None:
        """Prefill, and wait for it. A text longer than the model's context is not read: the level will be skipped."""
        if len(sequence) <= self.context:
            self.logits(sequence, len(sequence)).argmax().item()

    def _agreed(self, sequence: Sequence) -> int:
        """How many cached tokens after the committed ones are those of the sequence."""
        new = sequence.since(self._fixed)
        count = 0
        while count < len(new) and count < len(self._tail) and new[count] == self._tail[count]:
            count += 1
        return count
