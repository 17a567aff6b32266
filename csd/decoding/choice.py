"""The choice of a token from its scores, computed where the scores are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor


def top_two(scores: Tensor) -> Tensor:
    """For each row of [n, V] the first argmax, its score and the second best score: [n, 3] in float64.

    Float64 holds every id and every score exactly. Operations on the device only, so a CUDA graph can capture it.
    """
    best, first = scores.max(-1, keepdim=True)  # of ties the first index, on every device
    second = scores.scatter(-1, first, -math.inf).amax(-1, keepdim=True)
    return torch.cat([first.double(), best, second], -1)


@dataclass(frozen=True)
class GreedyChooser:
    """The token of the best logit."""


@dataclass(frozen=True)
class CoupledChooser:
    """The token of the best score under the noise of this seed, where no token is filtered out."""

    seed: int
    temperature: float


Chooser = GreedyChooser | CoupledChooser
"""A way of choosing tokens that a captured graph can follow, as a value: the graph has its numbers in tensors."""


def margin(best: float, second: float) -> float | None:
    """The distance of the two best scores; None where only one token is left, NaN where the best is no number."""
    return None if second == -math.inf and not math.isnan(best) else best - second
