"""Randomness and filtering for sampled decoding: temperature, top-k and top-p, and where random numbers come from."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import torch
from torch import Tensor

from csd.decoding.transfer import to_device

BLOCK = 1024  # uniform numbers that are copied to the device at once


@dataclass(frozen=True)
class LogitsWarper:
    """Temperature, top-k and top-p, applied in this order as transformers does; top_k 0 and top_p 1 switch them off."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    @property
    def filters(self) -> bool:
        """Whether it leaves tokens out."""
        return self.top_k > 0 or self.top_p < 1

    def __call__(self, logits: Tensor) -> Tensor:
        """Scores whose softmax is the filtered distribution; a token that is filtered out has -inf."""
        scores = tempered(logits, self.temperature)
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


def tempered(logits: Tensor, temperature: float | Tensor) -> Tensor:
    """Logits over the temperature, which may be a tensor of one number without dimensions; at least in float32."""
    return (logits if logits.dtype == torch.float64 else logits.float()) / temperature


class Sampler:
    """The random numbers of the rejection rule: one lane's stream, fresh at every use.

    They are uniform, made in blocks on the host and copied to the device ahead of their use.
    """

    def __init__(self, seed: int, device: str | torch.device = "cpu"):
        self._random, self._device = random.Random(seed), torch.device(device)
        self._block, self._used = to_device(torch.empty(0, dtype=torch.float64), self._device), 0

    def accepts(self, chances: Tensor) -> Tensor:
        """One toss for each probability: which of [n] come up."""
        return self._take(len(chances)) < chances

    def draw(self, probs: Tensor) -> Tensor:
        """A token from a distribution [V] that need not be normalized, [1]; never one of probability 0."""
        cumulative = probs.double().cumsum(-1)
        token = torch.searchsorted(cumulative, self._take(1) * cumulative[-1], right=True).clamp(max=len(probs) - 1)
        # Rounded sums may end at a token of probability 0.
        return torch.where(probs[token] > 0, token, probs.argmax())

    def _take(self, count: int) -> Tensor:
        if self._used + count > len(self._block):
            numbers = [self._random.random() for _ in range(max(BLOCK, count))]
            self._block, self._used = to_device(torch.tensor(numbers, dtype=torch.float64), self._device), 0
        self._used += count
        return self._block[self._used - count : self._used]
