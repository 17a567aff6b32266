"""Devices and number formats by name, and how much memory is free."""

from __future__ import annotations

import weakref
from types import SimpleNamespace

import psutil
import pytest
import torch

from csd.models import device
from csd.models.catalog import READY, find
from csd.models.device import _container_memory_free, check_memory, describe_machine, memory_free, memory_notes
from csd.models.loading import load_family
from csd.models.spec import FamilyError, custom


def test_unknown_device_and_format():
    for name, said in (("tpu", "no device called 'tpu'"), ("cuda:99", "cannot find a GPU 'cuda:99'")):
        with pytest.raises(FamilyError, match=said):
            load_family(READY[0], name)
    with pytest.raises(FamilyError, match=r"no number format called 'int3'.*auto, float64"):
        load_family(READY[0], "cpu", "int3")


def test_memory_free_of_this_machine():
    assert 0 < memory_free("cpu") < 2**45


class FakeGPU:
    """torch.cuda's memory: `held` bytes are cached for tensors that are gone, `stuck` of them in blocks still in use."""

    def __init__(self, free: int, used: int, held: int, stuck: int):
        self.free, self.used, self.held, self.stuck = free, used, held, stuck

    def empty_cache(self):
        self.free, self.held = self.free + self.held - self.stuck, self.stuck

    def memory_reserved(self, device):
        return self.used + self.held

    def memory_allocated(self, device):
        return self.used

    def mem_get_info(self, device):
        return self.free, 100


@pytest.mark.parametrize("stuck", [0, 5, 30])
def test_what_is_only_cached_on_a_gpu_is_free(monkeypatch, stuck):
    """Of a family that another one replaces nothing is in use, though the device knows only what PyTorch gave back."""
    gpu = FakeGPU(free=10, used=60, held=30, stuck=stuck)
    for name in ("empty_cache", "memory_reserved", "memory_allocated", "mem_get_info"):
        monkeypatch.setattr(torch.cuda, name, getattr(gpu, name))
    assert memory_free("cuda") == 40
    assert gpu.free == 40 - stuck  # given back, so that other programs have it too


def test_models_that_are_gone_are_collected_before_a_gpu_is_asked(monkeypatch):
    class Model:
        pass

    one, alive = Model(), []
    one.itself = one
    alive.append(weakref.ref(one))
    for name, value in {
        "empty_cache": None,
        "memory_reserved": 0,
        "memory_allocated": 0,
        "mem_get_info": (7, 9),
    }.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, value=value: value)
    del one
    assert memory_free("cuda:1") == 7
    assert alive[0]() is None


@pytest.mark.parametrize(("limit", "left"), [("1000", 1000 - 700 + 200), ("max", None)])
def test_a_containers_limit_counts(tmp_path, limit, left):
    (tmp_path / "memory.max").write_text(limit + "\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 200\n")
    assert _container_memory_free(tmp_path) == left


def test_too_big_for_the_memory_names_both_figures(monkeypatch):
    monkeypatch.setattr(device, "memory_free", lambda device: 5 * 2**30)
    with pytest.raises(FamilyError, match=r"Vicuna needs about 48.0 GiB in float32, and cpu has 5.0 GiB free"):
        load_family(find("Vicuna"), "cpu")


def test_the_smaller_of_system_and_container_counts(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=7000))
    for container, free in ((5000, 5000), (9000, 7000), (None, 7000)):
        monkeypatch.setattr(device, "_container_memory_free", lambda container=container: container)
        assert memory_free("cpu") == free


def test_an_unknown_size_passes_with_a_note():
    spec = custom("someone/something")
    check_memory(spec, "float32", "cpu")
    assert "size of this family is unknown" in memory_notes(spec, "float32")[0]
    assert memory_notes(READY[0], "float32") == ()


def test_the_machine_in_words():
    words = describe_machine("cpu", "float32")
    assert f"{torch.get_num_threads()} thread" in words
    assert f"; float32; torch {torch.__version__}, transformers " in words
