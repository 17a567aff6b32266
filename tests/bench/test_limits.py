"""What is measured of the device: its limits, memory, and the time of forward passes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from bench_samples import lane_family
from tiny_t5 import flan_t5, save_t5
from transformers import T5ForConditionalGeneration

from csd.bench import limits
from csd.bench.forward_times import measure_forward_times
from csd.bench.limits import Limits, measure_limits, weight_bytes_per_pass
from csd.bench.memory import measure_memory
from csd.models.loading import load_family
from csd.models.spec import custom


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


def test_a_gpu_is_timed_by_its_own_clock_over_runs_in_a_row(monkeypatch):
    """One event before, one after ten runs: what the host does in between is not in the figure."""
    log: list[str] = []

    class FakeEvent:
        def __init__(self, enable_timing: bool):
            assert enable_timing

        def record(self, stream) -> None:
            log.append(f"event on {stream}")

        def synchronize(self) -> None:
            log.append("wait")

        def elapsed_time(self, end) -> float:
            return 50.0  # ms

    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: f"the stream of {device}")
    monkeypatch.setattr(limits, "SECONDS", 0.0)
    assert limits._best_seconds(lambda: log.append("run"), "cuda:1") == pytest.approx(0.005)
    event = "event on the stream of cuda:1"
    assert log == [event, *["run"] * 10, event, "wait"] * 5


def test_what_is_copied_and_multiplied_is_random(monkeypatch):
    seen = []

    def run_once(run, device):
        seen.append(run())
        return 2.0

    monkeypatch.setattr(limits, "_best_seconds", run_once)
    assert limits.measure_copy_rate("cpu", 4000) == 4000
    assert limits.measure_flops("cpu", "float64", 30) == 30**3
    copied, product = seen
    assert copied.nbytes == 4000 and len(set(copied.tolist())) > 900
    assert product.shape == (30, 30) and product.dtype == torch.float64 and len(set(product.flatten().tolist())) == 900


@pytest.mark.parametrize(("name", "read"), [("small", 38.5e6), ("base", 123.8e6)])
def test_a_pass_of_flan_t5_reads_neither_the_encoder_nor_what_the_prompt_needs_once(name, read):
    with torch.device("meta"):
        model = T5ForConditionalGeneration(flan_t5(name))
    assert weight_bytes_per_pass(model) == pytest.approx(4 * read, rel=2e-3)


def test_forward_times_of_an_encoder_decoder_are_those_of_its_decoder(tmp_path):
    family = load_family(custom(save_t5(tmp_path)), "cpu")
    widths: list[int] = []
    decoder = family.backends["target"].decoder
    hook = decoder.register_forward_hook(lambda _, inputs, out: widths.append(out[0].shape[1]))
    try:
        (times,) = measure_forward_times(replace(family, contexts={"target": 200}))
    finally:
        hook.remove()
    assert [tokens for tokens, _ in times.by_context] == [64, 128, 199]
    assert {1, 2, 4, 8, 16, 24, 32, 63, 127} <= {*widths}  # the prompt is one token


def test_memory_of_the_embedded_family(embedded):
    memory = measure_memory(embedded, 96)
    assert [(cache.model, cache.tokens, cache.bytes) for cache in memory.caches] == [
        (name, 96, 2 * layers * heads * 64 * 4 * 96)
        for name, layers, heads in (("target", 14, 5), ("small", 4, 3), ("tiny", 1, 2))
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
