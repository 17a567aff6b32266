"""Randomness and filtering for sampled decoding: temperature, top-k and top-p, and where random numbers come from."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class LogitsWarper:
    """Temperature, top-k and top-p, applied in this order as transformers does; top_k 0 and top_p 1 switch them off."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __call__(self, logits: Tensor) -> Tensor:
        """Scores whose softmax is the filtered distribution; a token that is filtered out has -inf."""
        scores = (logits if logits.dtype == torch.float64 else logits.float()) / self.temperature
        if 0 < self.top_k < scores.shape[-1]:
            # Ties with the last one all stay: which of them `topk` takes is not defined.
            last = scores.topk(self.top_k, dim=-1).values[..., -1:]
            scores = scores.masked_fill(scores < last, -math.inf)
        if self.top_p < 1:
            ordered = scores.sort(dim=-1, descending=True, stable=True)
            before = ordered.values.softmax(-1).cumsum(-1).roll(1, -1)
            before[..., 0] = 0
            values = ordered.values.masked_fill(before >= self.top_p, -math.inf)
            scores = torch.empty_like(scores).scatter_(-1, ordered.indices, values)
        return scores


class Sampler:
    """The random numbers of the rejection rule: one lane's stream, fresh at every use."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)

    def accept(self, probability: float) -> bool:
        return self._random.random() < probability

    def draw(self, probs: Tensor) -> int:
        """A token from a distribution that need not be normalized; a token of probability 0 is never drawn."""
        cumulative = probs.double().cumsum(-1)
        point = torch.tensor(self._random.random(), dtype=torch.float64, device=probs.device) * cumulative[-1]
        return int(torch.searchsorted(cumulative, point, right=True).clamp(max=int(probs.nonzero()[-1])))
