"""Folders and downloads: what is fetched, how weights are checked, and the Hub's errors as sentences."""

from __future__ import annotations

import errno
import json
import re
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import torch
from huggingface_hub import errors
from tiny_family import byte_level, refusal, save
from transformers import AutoModelForCausalLM

from csd.models import disk, faults, hub
from csd.models.files import ModelFiles
from csd.models.loading import load_family
from csd.models.messages import ignore
from csd.models.spec import FamilyError, ModelSpec, custom


def test_a_folder_without_a_model(tmp_path):
    assert "config.json is missing" in refusal(str(tmp_path))


def test_a_folder_without_weights(pair):
    Path(pair[0], "model.safetensors").unlink()
    assert "does not contain complete weights" in refusal(pair[0])


def test_damaged_weights(pair):
    Path(pair[0], "model.safetensors").write_bytes(b"not a model")
    assert "could not be loaded" in refusal(pair[0])


def test_incomplete_weights(tmp_path):
    target = save(tmp_path / "shallow", byte_level(), num_hidden_layers=1)
    config = tmp_path / "shallow" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "num_hidden_layers": 2}))
    assert "are incomplete" in refusal(target)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (errors.GatedRepoError, "is gated. Accept its license at https://huggingface.co/org/big"),
        (errors.RepositoryNotFoundError, "There is no model 'org/big'"),
        (errors.RevisionNotFoundError, "no revision called 'v9'"),
        (errors.LocalEntryNotFoundError, "the Hugging Face Hub cannot be reached"),
        (ConnectionError, "the Hugging Face Hub cannot be reached"),
    ],
)
def test_what_the_hub_answers(monkeypatch, error, said):
    def answer(*args, **options):
        raise error.__new__(error)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", answer)
    assert said in refusal("org/big@v9")


def test_no_network_and_nothing_cached(monkeypatch, tmp_path):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    assert "cannot be reached" in refusal("nobody/nothing")
    assert "There is no model" in refusal("no/such/folder")
    for path in ("/no/such/folder", "./folder", "../folder", "~/folder"):
        assert f"There is no folder {path}. Check the path" in refusal(path)


class FakeHub:
    """A repository in a folder, downloaded into a snapshot of the commit c0ffee, as `snapshot_download` does it."""

    def __init__(self, source: Path, cache: Path):
        self.source, self.snapshot = source, cache / "snapshots" / "c0ffee"
        self.snapshot.mkdir(parents=True)
        self.fetched: list[str] = []
        self.tells_sizes = True

    def download(self, id, revision, allow_patterns, ignore_patterns=(), tqdm_class=None):
        assert (id, revision) in (("org/big", "main"), ("org/big", "c0ffee"))
        names = [path.name for path in self.source.iterdir()]
        chosen = [name for name in names if any(fnmatch(name, pattern) for pattern in allow_patterns)]
        for name in chosen:
            (self.snapshot / name).write_bytes((self.source / name).read_bytes())
        self.fetched += chosen
        if tqdm_class and chosen:
            self._show(tqdm_class)
        return str(self.snapshot)

    def info(self, id, revision, files_metadata, timeout):
        files = [SimpleNamespace(rfilename=path.name, size=path.stat().st_size) for path in self.source.iterdir()]
        return SimpleNamespace(siblings=files if self.tells_sizes else None)

    @staticmethod
    def _show(tqdm_class) -> None:
        """The three bars of huggingface_hub: files, bytes received, bytes written."""
        files = tqdm_class(total=2, desc="Fetching 2 files")
        received = tqdm_class(total=3 * 2**30, desc="Downloading bytes", unit="B")
        written = tqdm_class(total=0, desc="Reconstructing", unit="B")
        written.total = 3 * 2**30
        for bar, count in ((files, 1), (received, 2**31), (written, 2**30)):
            bar.update(count)
            bar.refresh()


@pytest.fixture
def fake_hub(tmp_path, monkeypatch) -> FakeHub:
    save(tmp_path / "source", byte_level())
    fake, metadata = FakeHub(tmp_path / "source", tmp_path), SimpleNamespace(parameter_count={"F32": 12345})
    monkeypatch.setattr(huggingface_hub, "snapshot_download", fake.download)
    monkeypatch.setattr(huggingface_hub, "get_safetensors_metadata", lambda id, revision: metadata)
    monkeypatch.setattr(huggingface_hub, "model_info", fake.info)
    return fake


@pytest.mark.parametrize("sharded", [False, True])
def test_a_hub_model_is_fetched_checked_and_loaded(fake_hub, sharded, capsys):
    source = fake_hub.source
    if sharded:
        model = AutoModelForCausalLM.from_pretrained(source)
        (source / "model.safetensors").unlink()
        model.save_pretrained(source, max_shard_size="20KB")
    (source / "other.safetensors").write_bytes(b"not part of the model")
    said = []
    family = load_family(custom("org/big"), "cpu", progress=said.append)
    fetched = {name for name in fake_hub.fetched if name.endswith(".safetensors")}
    assert fetched == {path.name for path in source.glob("model*.safetensors")}
    assert len(fetched) > 1 if sharded else fetched == {"model.safetensors"}
    assert family.spec.target.parameters == 12345
    assert (family.levels[0].model, family.commit) == ("org/big", "c0ffee")
    assert {sentence for sentence in said if sentence.startswith("downloading")} >= {
        "downloading target (1 of 1): 1.0 GiB of 3.0 GiB"
    }
    assert "2.0 GiB" not in " ".join(said), "bytes are counted once"
    assert capsys.readouterr().err == "", "no bar is drawn"


def test_pickled_weights_if_there_are_no_safetensors(fake_hub):
    model = AutoModelForCausalLM.from_pretrained(fake_hub.source)
    (fake_hub.source / "model.safetensors").unlink()
    torch.save(model.state_dict(), fake_hub.source / "pytorch_model.bin")
    load_family(custom("org/big"), "cpu")
    assert fake_hub.fetched[-1] == "pytorch_model.bin"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionResetError("peer"), "the connection broke.*load it again, which goes on where it stopped"),
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full. Delete models"),
    ],
)
def test_a_download_that_is_cut_off_is_said_and_the_next_one_works(fake_hub, monkeypatch, error, said):
    def cut(id, revision, allow_patterns, **options):
        if "model.safetensors" in allow_patterns:
            (fake_hub.snapshot / "model.safetensors.incomplete").write_bytes(b"half")
            raise error
        return fake_hub.download(id, revision, allow_patterns, **options)

    with monkeypatch.context() as patched:
        patched.setattr(huggingface_hub, "snapshot_download", cut)
        assert re.search(said, refusal("org/big"))
    assert load_family(custom("org/big"), "cpu").commit == "c0ffee"


def test_a_download_without_room_is_refused_with_numbers(fake_hub, monkeypatch):
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda folder: SimpleNamespace(free=2**30 + 1000))
    assert re.search(r"it takes \d+ MiB, and the disk has 1.0 GiB free", refusal("org/big"))
    assert "model.safetensors" not in fake_hub.fetched
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda folder: SimpleNamespace(free=2**40))
    load_family(custom("org/big"), "cpu")


def test_a_download_of_unknown_size_is_refused_where_that_is_asked_for(fake_hub):
    fake_hub.tells_sizes = False
    model = ModelSpec("target", "org/big")
    files = hub.find_files(model)
    with pytest.raises(FamilyError, match="the Hub does not say how large its files are"):
        hub.fetch_weights(model, files, ignore, unknown_size=False)
    hub.fetch_weights(model, files, ignore)
    hub.fetch_weights(model, files, ignore, unknown_size=False)  # they are there


def test_a_full_memory_while_loading_is_a_sentence(pair, monkeypatch):
    for error in (torch.OutOfMemoryError("CUDA out of memory. Tried"), RuntimeError("could not create a primitive"),
                  RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"), MemoryError()):  # fmt: skip

        def fail(*args, error=error, **options):
            raise error

        monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", fail)
        assert refusal(*pair) == f"{faults.NO_MEMORY} family. {faults.SMALLER_FAMILY}"


def test_a_repository_without_weights(fake_hub):
    (fake_hub.source / "model.safetensors").unlink()
    assert "has neither model.safetensors nor pytorch_model.bin" in refusal("org/big")


def test_parameters_are_counted_from_the_headers(tmp_path):
    folder = Path(save(tmp_path / "one", byte_level()))
    files = ModelFiles(folder)
    count = AutoModelForCausalLM.from_pretrained(folder).num_parameters()
    assert hub.count_parameters(ModelSpec("target", str(folder)), files) == count
    (folder / "model.safetensors").write_bytes(b"not a model")
    assert hub.count_parameters(ModelSpec("target", str(folder)), files) == 0
    (folder / "model.safetensors").unlink()
    assert hub.count_parameters(ModelSpec("target", str(folder)), files) == 0
