"""Checksums of what is shipped: true, complete, and a damaged file is named before it is used."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from csd.models import checksums
from csd.models.catalog import find
from csd.models.checksums import SUMS, check_shipped, find_damage, sha256
from csd.models.loading import load_family
from csd.models.spec import FamilyError
from csd.paths import ASSETS

LISTED = {line.partition("  ")[2] for line in SUMS.read_text("utf-8").splitlines()}


def test_they_are_true_and_complete():
    """After a change: the line in CONTRIBUTING.md writes them anew."""
    assert find_damage(ASSETS) is None
    weights = {path.relative_to(ASSETS).as_posix() for path in ASSETS.rglob("*.safetensors")}
    configs = {path.relative_to(ASSETS).as_posix() for path in ASSETS.glob("family/*/*.json")}
    tables = {f"{folder}/{name}.json" for folder in ("family", "smollm2") for name in ("bigram", "tuned")}
    assert weights and weights | configs | tables | {"family/tokenizer.json"} <= LISTED


@pytest.fixture
def copied(tmp_path) -> Path:
    """A copy of the smallest draft with its checksums; returns their file."""
    shutil.copytree(ASSETS / "family" / "tiny", tmp_path / "family" / "tiny")
    shutil.copy(SUMS, tmp_path / SUMS.name)
    return tmp_path / SUMS.name


def test_flipped_bytes_and_missing_files_are_named(copied):
    folder = copied.parent / "family" / "tiny"
    assert find_damage(folder, copied) is None
    weights = folder / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[200_000] ^= 1
    weights.write_bytes(data)
    assert find_damage(folder, copied) == find_damage(weights, copied) == weights
    assert find_damage(folder / "config.json", copied) is None
    with pytest.raises(FamilyError, match=r"model.safetensors is missing or damaged: its SHA-256 .*Restore the file"):
        check_shipped([folder], copied)
    weights.unlink()
    assert find_damage(folder, copied) == weights
    assert sha256(weights) == ""


def test_folders_of_the_users_own_are_not_looked_at(tmp_path, copied):
    assert find_damage(tmp_path / "own", copied) is None
    check_shipped([tmp_path / "own", tmp_path / "own" / "tokenizer.json"], copied)


def test_damaged_weights_are_refused_before_they_are_loaded(copied, monkeypatch):
    monkeypatch.setattr(checksums, "SUMS", copied)
    folder = copied.parent / "family" / "tiny"
    (folder / "model.safetensors").write_bytes(b"not what was shipped")
    spec = find("embedded")
    alone = replace(spec, target=replace(spec.drafts[1], name="target", id=str(folder)), drafts=())
    with pytest.raises(FamilyError, match="model.safetensors is missing or damaged"):
        load_family(alone, "cpu")


@pytest.mark.parametrize("content", [None, b"\xff\xfe"], ids=["missing", "damaged"])
def test_a_list_of_checksums_that_cannot_be_read_is_named(tmp_path, content):
    sums = tmp_path / "SHA256SUMS"
    if content is not None:
        sums.write_bytes(content)
    with pytest.raises(FamilyError, match=r"SHA256SUMS, with the SHA-256 .* is missing or damaged\. Restore it"):
        check_shipped([tmp_path], sums)
