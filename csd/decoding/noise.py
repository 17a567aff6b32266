"""Gumbel noise as a pure function of (seed, position, token id), the same for every level, lane and device."""

from __future__ import annotations

import torch
from torch import Tensor

from csd.decoding.transfer import to_device

# SplitMix64: a counter that advances by an odd constant, and a mixer that makes its values unrelated.
_PER_POSITION, _PER_ID = 0xD1B54A32D192ED03 - 2**64, 0x9E3779B97F4A7C15 - 2**64
_MIX_1, _MIX_2 = 0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64
_BITS_OF_ONE = 0x3FF << 52  # the float64 1.0


def gumbel(keys: Tensor, strides: Tensor) -> Tensor:
    """Standard Gumbel noise, [n, V] in float64: -log(-log(u)) of 52 hashed bits for each position and token id.

    `keys` is [n] from `position_keys`, `strides` [V] from `id_strides`. Elementwise operations only, so a CUDA graph
    can capture it, and a value does not depend on how many others are asked for.
    """
    bits = _mix(keys[:, None] + strides)
    _shift(bits, 12, bits)
    uniform = bits.bitwise_or_(_BITS_OF_ONE).view(torch.float64)  # in [1, 2)
    uniform -= 1 - 2.0**-53  # strictly between 0 and 1
    return uniform.log_().neg_().log_().neg_()


def position_keys(seed: Tensor, positions: Tensor) -> Tensor:
    """The part of the hash that depends on the seed, [1], and on the positions, [n]; all of them int64."""
    return _mix(_mix(seed.clone()) + positions * _PER_POSITION)


def id_strides(vocab: int, device: str | torch.device = "cpu") -> Tensor:
    """The part of the hash that depends on the token id alone, [V]."""
    return torch.arange(vocab, device=device) * _PER_ID


class GumbelNoise:
    """One lane's noise: rows that are under review are kept, so that its levels share them.

    Rows are kept as far back as the longest review reached. One that is missing is computed again.
    """

    def __init__(self, seed: int, vocab: int, device: str | torch.device = "cpu"):
        self.seed = seed
        self._key, self._strides = torch.tensor([signed(seed)]), id_strides(vocab, device)
        self._rows: dict[int, Tensor] = {}
        self._longest = 0

    def rows(self, start: int, count: int) -> Tensor:
        """Noise for positions start .. start + count - 1: [count, V]."""
        self._longest = max(self._longest, count)
        kept, wanted = start - self._longest, range(start, start + count)
        self._rows = {position: row for position, row in self._rows.items() if position >= kept}
        self._add([position for position in wanted if position not in self._rows])
        return torch.stack([self._rows[position] for position in wanted])

    def _add(self, positions: list[int]) -> None:
        device = self._strides.device
        at_once = 1 if device.type == "cpu" else len(positions)  # one row fits a CPU's cache, a GPU needs few launches
        for first in range(0, len(positions), max(1, at_once)):
            part = positions[first : first + at_once]
            keys = to_device(position_keys(self._key, torch.tensor(part)), device)
            self._rows.update(zip(part, gumbel(keys, self._strides)))


def _mix(z: Tensor) -> Tensor:
    """SplitMix64's finaliser, in place."""
    shifted = torch.empty_like(z)
    z ^= _shift(z, 30, shifted)
    z *= _MIX_1
    z ^= _shift(z, 27, shifted)
    z *= _MIX_2
    z ^= _shift(z, 31, shifted)
    return z


def _shift(z: Tensor, by: int, out: Tensor) -> Tensor:
    """`z >> by` of unsigned numbers: PyTorch's shift copies the sign, which the mask removes."""
    return torch.bitwise_right_shift(z, by, out=out).bitwise_and_((1 << (64 - by)) - 1)


def signed(seed: int) -> int:
    """The same 64 bits as a signed number, which fits into an int64 tensor."""
    return (seed + 2**63) % 2**64 - 2**63
