"""Steps of a draft model as one CUDA graph: each feeds the token that the one before chose, and the host sees none.

Chains follow a pass of any width, which reads what the model has missed and chooses the first token. So one pass and
one chain write drafts of 2, 4 or 8 tokens, and several chains write any number without a step too many.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from csd.decoding.choice import Chooser, CoupledChooser, GreedyChooser, top_two
from csd.decoding.noise import gumbel, id_strides, position_keys, signed
from csd.decoding.sampling import tempered
from csd.decoding.transfer import to_device
from csd.models.backends.capture import Capture

LENGTHS = (1, 3, 7)  # steps of a chain

Scores = Callable[[Tensor, int], Tensor]
"""The scores that the rule compares, [1, V], from the logits of a step and the step's number in its chain."""


class Chains:
    """The chains of one lane: a graph for each length and for each way of choosing.

    `step` is a pass over the lane's buffers, logits [width, V], of which the first row counts. `fed`, [2], is what it
    reads: how many cached tokens to keep, and the token after them. Raises whatever capturing raises.
    """

    def __init__(self, step: Callable[[], Tensor], fed: Tensor, capture: Capture, memory: Any):
        chosen = torch.zeros(LENGTHS[-1], 3, dtype=torch.float64, device=fed.device)
        self._coupled = CoupledScores(step().shape[-1], fed.device)

        def record(scores: Scores) -> dict[int, Callable[[], Tensor]]:
            return {n: capture(partial(_chain, step, fed, scores, chosen[:n]), memory) for n in LENGTHS}

        self._by_length = {GreedyChooser: record(_logits), CoupledChooser: record(self._coupled)}

    def run(self, most: int, chooser: Chooser, position: int) -> Tensor:
        """The longest chain of at most so many steps, at least one, the first of which chooses the token at `position`.

        `top_two` of each choice, [steps, 3], which the next chain overwrites.
        """
        if isinstance(chooser, CoupledChooser):
            self._coupled.set(chooser, position)
        return self._by_length[type(chooser)][max(n for n in LENGTHS if n <= most)]()


class CoupledScores:
    """The scores of a `CoupledChooser`, computed from tensors, so that a captured graph serves every seed and position.

    The keys of the noise are hashed on the host: on the device that would be a dozen operations a step for one number.
    """

    def __init__(self, vocab: int, device: torch.device):
        self._keys = torch.zeros(LENGTHS[-1], dtype=torch.long, device=device)
        # Without dimensions, so that float32 logits stay float32, as with a number of the host.
        self._temperature = torch.ones((), dtype=torch.float64, device=device)
        self._strides = id_strides(vocab, device)

    def set(self, chooser: CoupledChooser, position: int) -> None:
        """Use this seed and temperature, for steps that choose the tokens from `position` on."""
        keys = position_keys(torch.tensor([signed(chooser.seed)]), torch.arange(position, position + LENGTHS[-1]))
        self._keys.copy_(to_device(keys, self._keys.device))
        self._temperature.fill_(chooser.temperature)

    def __call__(self, logits: Tensor, step: int) -> Tensor:
        """log p + g of the token that this step chooses, [1, V]."""
        return tempered(logits, self._temperature) + gumbel(self._keys[step : step + 1], self._strides)


def _logits(logits: Tensor, step: int) -> Tensor:
    return logits


def _chain(step: Callable[[], Tensor], fed: Tensor, scores: Scores, chosen: Tensor) -> Tensor:
    """One step for each row of `chosen`, which it fills: [steps, 3]. Reads nothing but tensors."""
    for number, row in enumerate(chosen.split(1)):
        row.copy_(top_two(scores(step()[:1], number)))
        fed[0].add_(1)
        fed[1:2].copy_(row[0, :1])
    return chosen
