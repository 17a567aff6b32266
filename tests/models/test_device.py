"""Devices and number formats by name, and how much memory is free."""

from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest
import torch

from csd.models import device
from csd.models.catalog import READY, FamilyError, custom, find
from csd.models.device import _container_memory_free, check_memory, describe_machine, memory_free, memory_notes
from csd.models.family import load_family


def test_unknown_device_and_format():
    for name, said in (("tpu", "no device called 'tpu'"), ("cuda:99", "cannot find a GPU 'cuda:99'")):
        with pytest.raises(FamilyError, match=said):
            load_family(READY[0], name)
    with pytest.raises(FamilyError, match=r"no number format called 'int3'.*auto, float64"):
        load_family(READY[0], "cpu", "int3")


def test_memory_free_of_this_machine():
    assert 0 < memory_free("cpu") < 2**45


@pytest.mark.parametrize(("limit", "left"), [("1000", 1000 - 700 + 200), ("max", None)])
def test_a_containers_limit_counts(tmp_path, limit, left):
    (tmp_path / "memory.max").write_text(limit + "\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 200\n")
    assert _container_memory_free(tmp_path) == left


def test_too_big_for_the_memory_names_both_figures(monkeypatch):
    monkeypatch.setattr(device, "memory_free", lambda device: 5 * 2**30)
    with pytest.raises(FamilyError, match=r"Vicuna needs about 43.5 GiB in float32, and cpu has 5.0 GiB free"):
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
