"""The noise of coupled sampling: fixed by seed, position and id, Gumbel, and independent in each of the three."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch
from graph_models import gpu

from csd.decoding.noise import GumbelNoise, gumbel, id_strides, position_keys


def test_noise_is_fixed_by_seed_and_position():
    whole = GumbelNoise(7, 40).rows(0, 30)
    assert whole.shape == (30, 40) and whole.dtype == torch.float64 and torch.isfinite(whole).all()
    noise = GumbelNoise(7, 40)
    for at, count in ((29, 1), (3, 9), (0, 1), (12, 18)):
        assert torch.equal(noise.rows(at, count), whole[at : at + count])
        assert torch.equal(GumbelNoise(7, 40).rows(at, count), whole[at : at + count])
    assert torch.equal(GumbelNoise(7, 90).rows(5, 2)[:, :40], whole[5:7])  # a padded vocabulary changes nothing


def test_the_hash_is_splitmix64():
    """Against the published definition in unsigned Python numbers, with seeds and positions of every size."""
    ones = 2**64 - 1

    def mix(z: int) -> int:
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & ones
        z = (z ^ z >> 27) * 0x94D049BB133111EB & ones
        return z ^ z >> 31

    assert mix(0x9E3779B97F4A7C15) == 0xE220A8397B1DCDAF  # the first output of the generator seeded with 0
    for seed in (0, 1, 12345, 2**63 - 1, 2**64 - 1):
        for position in (0, 1, 777, 10**6):
            row = GumbelNoise(seed, 20).rows(position, 1)[0].tolist()
            key = mix(mix(seed) + position * 0xD1B54A32D192ED03 & ones)
            for i, found in enumerate(row):
                u = (2 * (mix(key + i * 0x9E3779B97F4A7C15 & ones) >> 12) + 1) * 2.0**-53
                assert 0 < u < 1 and math.isclose(found, -math.log(-math.log(u)), rel_tol=1e-12, abs_tol=1e-12)


def test_many_positions_at_once_are_the_rows_one_by_one():
    """As a CUDA graph computes it: seed and positions are tensors."""
    seed, positions, strides = torch.tensor([11]), torch.tensor([5, 3, 900]), id_strides(333)
    rows = gumbel(position_keys(seed, positions), strides)
    for row, position in zip(rows, positions.tolist()):
        torch.testing.assert_close(row, GumbelNoise(11, 333).rows(position, 1)[0], rtol=1e-14, atol=1e-14)
    assert (int(seed), positions.tolist()) == (11, [5, 3, 900])  # arguments stay as they are
    assert torch.equal(strides, id_strides(333))


@gpu
def test_a_gpu_computes_the_same_noise():
    on_gpu = GumbelNoise(7, 5000, "cuda").rows(100, 9).cpu()
    torch.testing.assert_close(on_gpu, GumbelNoise(7, 5000).rows(100, 9), rtol=1e-13, atol=1e-13)


def test_rows_that_no_review_reaches_any_more_are_dropped():
    """Rounds of a draft of 8 steps and a review of 9: each position is computed once, and few rows are kept."""
    noise, computed = GumbelNoise(1, 8), Counter()
    add = noise._add

    def counting(positions):
        computed.update(positions)
        add(positions)

    noise._add = counting
    for start in range(0, 900, 9):
        for position in range(start, start + 8):
            noise.rows(position, 1)
        noise.rows(start, 9)
        assert len(noise._rows) <= 2 * 9
    assert all(computed[position] == 1 for position in range(9, 900))
    assert torch.equal(noise.rows(0, 20), GumbelNoise(1, 8).rows(0, 20))  # a row that was dropped is the same again


def test_moments_are_those_of_the_gumbel_distribution():
    """Mean 0.5772, variance pi^2 / 6, each within five standard errors; the fourth cumulant of a Gumbel is pi^4 / 15."""
    values = GumbelNoise(21, 1000).rows(0, 400)
    n, variance = values.numel(), math.pi**2 / 6
    assert abs(values.mean() - 0.57721566) < 5 * math.sqrt(variance / n)
    assert abs(values.var() - variance) < 5 * math.sqrt((math.pi**4 / 15 + 2 * variance**2) / n)


@pytest.mark.parametrize(("at", "count", "vocab"), [(100, 100, 500), (0, 2000, 3), (10**6, 3, 50_000)])
def test_noise_is_gumbel(at, count, vocab):
    """The Kolmogorov-Smirnov distance to exp(-exp(-x)) is small, over positions, over ids and over both."""
    values = GumbelNoise(11, vocab).rows(at, count).flatten().sort().values
    n = len(values)
    cdf = torch.exp(-torch.exp(-values))
    steps = torch.arange(n, dtype=torch.float64) / n
    assert max((cdf - steps).max(), (steps + 1 / n - cdf).max()) < 1.95 / math.sqrt(n)


@pytest.mark.parametrize("vary", ["position", "seed"])
def test_the_argmax_follows_the_softmax(vary):
    """Chi-square of how often each token wins, over positions of one seed and over seeds at one position."""
    logits = torch.tensor([0.0, 1.0, -1.0, 2.0, 0.5, -3.0], dtype=torch.float64)
    total, strides = 40_000, id_strides(6)
    if vary == "position":
        keys = position_keys(torch.tensor([3]), torch.arange(total))
    else:
        keys = position_keys(torch.arange(total), torch.tensor([50]))
    counts = torch.bincount((logits + gumbel(keys, strides)).argmax(-1), minlength=6).double()

    def misfit(expected: torch.Tensor) -> float:
        return float(((counts - expected) ** 2 / expected).sum())

    assert misfit(total * logits.softmax(-1)) < 5 + 5 * math.sqrt(10)
    assert misfit(total * (0.9 * logits).softmax(-1)) > 5 + 5 * math.sqrt(10)  # the test can fail


def test_neighbouring_seeds_positions_and_ids_are_independent():
    """Correlations of rows, of rows shifted by an id, and of who wins a pair of ids are small."""
    seeds, starts, width = (0, 1, 2, 2**62, 2**63 - 1), (0, 1000), 4000
    rows = torch.cat([GumbelNoise(seed, width).rows(at, 4) for seed in seeds for at in starts])
    shifted = torch.cat([rows[:, :-1], rows[:, 1:]])
    for values in (rows, shifted, (rows[:, ::2] > rows[:, 1::2]).double()):
        related = torch.corrcoef(values) - torch.eye(len(values))
        assert related.abs().max() < 5.5 / math.sqrt(values.shape[1])


def test_pairs_of_neighbours_fill_the_square_evenly():
    """Chi-square of u(this) against u(neighbour) on a grid, for neighbouring ids, positions and seeds."""
    here = torch.stack([GumbelNoise(seed, 201).rows(0, 200) for seed in (8, 9)])
    u = torch.exp(-torch.exp(-here))
    pairs = {
        "ids": (u[0, :, :-1], u[0, :, 1:]),
        "positions": (u[0, :-1, :], u[0, 1:, :]),
        "seeds": (u[0], u[1]),
    }
    for name, (one, other) in pairs.items():
        cells = (one.flatten() * 16).long() * 16 + (other.flatten() * 16).long()
        counts = torch.bincount(cells, minlength=256).double()
        expected = counts.sum() / 256
        assert abs(float(((counts - expected) ** 2 / expected).sum()) - 255) < 5 * math.sqrt(510), name
