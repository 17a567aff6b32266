"""What is measured of the device: its limits, memory, and the time of forward passes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench_samples import lane_family

from csd.bench.forward_times import measure_forward_times
from csd.bench.limits import Limits, measure_limits
from csd.bench.memory import measure_memory


def test_limit_of_autoregressive_decoding():
    found = Limits(copy_rate=1000.0, read_rate=None, flops=1.0, weight_bytes=80, cache_bytes=2)
    assert found.autoregressive_speed(10) == pytest.approx(10)
    assert replace(found, read_rate=2000.0).autoregressive_speed(10) == pytest.approx(20)


def test_limits_of_the_embedded_family(embedded):
    """What is read per pass is what the shapes say."""
    found = measure_limits(embedded)
    assert found.copy_rate > 0 and found.read_rate > 0 and found.flops > 0
    target = embedded.reference("target")
    table_bytes = target.get_input_embeddings().weight.nbytes
    every = sum(weight.nbytes for weight in target.parameters())
    tied = target.get_output_embeddings().weight.data_ptr() == target.get_input_embeddings().weight.data_ptr()
    assert found.weight_bytes == every - (0 if tied else table_bytes)
    assert found.cache_bytes == 2 * 14 * 5 * 64 * 4


def test_memory_of_the_embedded_family(embedded):
    memory = measure_memory(embedded, 96)
    assert [(cache.model, cache.tokens, cache.bytes) for cache in memory.caches] == [
        (name, 96, 2 * layers * heads * 64 * 4 * 96)
        for name, layers, heads in (("target", 14, 5), ("draft-mid", 4, 3), ("draft-small", 1, 2))
    ]
    weights = sum(weight.nbytes for name in embedded.backends for weight in embedded.reference(name).parameters())
    assert memory.resident > weights and (memory.allocated is None) == (embedded.device == "cpu")


def test_forward_times_of_a_toy_stay_within_its_context():
    times = measure_forward_times(lane_family(context=200, contexts={"draft-1": 70}))
    assert [one.model for one in times] == ["target", "draft-3", "draft-2", "draft-1"]
    assert [tokens for tokens, _ in times[0].by_context] == [64, 128, 199]
    assert [tokens for tokens, _ in times[-1].by_context] == [64, 69]
    assert [tokens for tokens, _ in times[0].by_width] == [1, 2, 4, 8, 16, 24, 32]
    assert all(seconds > 0 for one in times for _, seconds in (*one.by_context, *one.by_width))
