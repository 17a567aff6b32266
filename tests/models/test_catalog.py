"""The table of families: what they need, names of custom ones, and that none of it imports torch."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from csd.models.catalog import READY, find
from csd.models.memory import memory_needed
from csd.models.spec import FamilyError, custom, short_names
from csd.paths import local_path

ROOT = Path(__file__).resolve().parents[2]


def test_table_needs_no_torch():
    check = (
        "import sys, csd.models.catalog as c; c.find('embedded'); "
        "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=False).returncode == 0


def test_memory_is_weights_and_four_caches_and_a_margin():
    spec = find("Vicuna")
    weights = 6_738_415_616 + 162_417_408 + 68_030_208
    caches = 4 * (2 * 32 * 32 * 128 * 4096 + 2 * 12 * 12 * 64 * 2048 + 2 * 2 * 12 * 64 * 2048)
    short = 4 * 1024 * (2 * 32 * 32 * 128 + 2 * 12 * 12 * 64 + 2 * 2 * 12 * 64)  # kept besides by a GPU
    assert memory_needed(spec, "bfloat16") == round(1.1 * 2 * (weights + caches + short)) + 512 * 2**20
    packed = 4 * 162_417_408  # the largest that a CPU packs: for a moment it is there twice
    assert memory_needed(spec, "float32") == round(1.1 * (4 * (weights + caches) + packed)) + 512 * 2**20
    assert memory_needed(custom("someone/something"), "float32") is None


def test_a_quantised_copy_counts_by_its_bits():
    spec = find("smollm2")
    weights, cache = 134_515_008, 4 * 2 * 30 * 3 * 64 * 4096
    assert memory_needed(spec, "float32") == round(1.1 * (weights * (4 + 4 + 1) + 2 * 4 * cache)) + 512 * 2**20


def test_a_model_with_its_own_dtype_keeps_it():
    spec = READY[0]
    halved = replace(spec, target=replace(spec.target, dtype="bfloat16"))
    assert memory_needed(spec, "bfloat16") < memory_needed(halved, "float32") < memory_needed(spec, "float32")


def test_short_names_are_unique():
    assert short_names(["a/x", "b/x", "/m/x/", "y/target", "MaxGram"]) == ("x", "x-2", "x-3", "target-2", "MaxGram-2")


def test_custom_splits_off_a_revision():
    spec = custom(" org/big@v1 ", ["org/small"])
    assert (spec.target.id, spec.target.revision) == ("org/big", "v1")
    assert (spec.drafts[0].name, spec.drafts[0].revision) == ("small", "main")
    with pytest.raises(FamilyError, match="name of a model is empty"):
        custom("org/big", [" "])


@pytest.mark.parametrize("id", ["@" + "a" * 5000, "x" * 501, "a\0b@c", "a\nb", "\ud83d"])
def test_what_cannot_be_the_name_of_a_model(id):
    with pytest.raises(FamilyError, match="printable") as refusal:
        custom(id)
    assert len(str(refusal.value)) < 250 and str(refusal.value).encode()


def test_text_that_cannot_be_a_path_is_no_path():
    assert custom("~nobody-has-this-name@v1").target.revision == "v1"
    for text in ("~nobody-has-this-name", "a" * 5000, "a\0b"):
        assert local_path(text) is None
    with pytest.raises(FamilyError, match="7 drafts are named. A family has at most 6"):
        custom("org/big", ["org/small"] * 7)


def test_find_lists_the_names():
    with pytest.raises(FamilyError, match=r"no family called 'nope'.*embedded, smollm2, SmolLM2 1.7B"):
        find("nope")


def test_a_family_that_was_renamed_is_found_by_its_former_name():
    assert find("SmolLM2") is find("SmolLM2 1.7B")
    assert find("SmolLM2").target.id == "HuggingFaceTB/SmolLM2-1.7B-Instruct"
    assert find("smollm2").target.id == "HuggingFaceTB/SmolLM2-135M-Instruct"
    assert find("smollm2").draft_names == ("self-8bit",)


def test_the_level_of_a_file_has_its_name():
    assert short_names(["/m/small.Q8_0.gguf", "org/x.gguf"]) == ("small.Q8_0", "x")


def test_an_at_sign_in_a_path_is_no_revision(tmp_path):
    path = tmp_path / "a@b.gguf"
    path.touch()
    assert (custom(str(path)).target.id, custom(str(path)).target.revision) == (str(path), "main")


def test_names_of_drafts_are_strongest_first():
    assert READY[0].draft_names == ("small", "tiny")
    assert custom("org/big").draft_names == ()


def test_a_family_without_its_copies_has_files_for_every_model():
    spec = custom("some/target", ["some/draft", "self-4bit", "self-8bit"])
    assert spec.copies == ("self-8bit", "self-4bit")
    assert [model.name for model in spec.without_copies().models] == ["target", "draft"]
    assert spec.without_copies().with_copies(*spec.copies) == spec
    assert [model.format_or("float32") for model in spec.models] == ["float32", "int8", "int4", "float32"]
