"""Model folders that are damaged, hostile or of a kind that is not supported: what is said is ours, and nothing runs."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tiny_family import byte_level, refusal, save
from transformers import AutoModelForCausalLM

from csd.web.families import describe_error

FOREIGN = ("weights_only", "PyTorch", "torch.load", "deserializing", "ignore_mismatched", "trust_remote", "checkpoint",
           "custom code", "Transformers", "optimum", "line 1 column", "Validation")  # fmt: skip
INDEX = "model.safetensors.index.json"


class Runs:
    """Leaves a folder behind where it is unpickled."""

    def __init__(self, marker: Path):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


def config(folder: Path, **values: object) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


def pickled(folder: Path, data: bytes) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(data)


def hostile(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({"a": Runs(folder / "ran")}, folder / "pytorch_model.bin")


def cut(folder: Path) -> None:
    torch.save(AutoModelForCausalLM.from_pretrained(folder).state_dict(), folder / "whole.bin")
    pickled(folder, (folder / "whole.bin").read_bytes()[:3000])


def foreign(folder: Path) -> None:
    config(folder, model_type="evil", auto_map={"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.M"})
    (folder / "evil.py").write_text(f"import os\nos.mkdir({str(folder / 'ran')!r})\n")


def indexed(text: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / INDEX).write_text(text)

    return change


USE_SAFETENSORS = "could not be loaded: pytorch_model.bin is damaged, or contains more than weights, and code in it is "
DAMAGED = "its weights are damaged or incomplete. Download the model again"
NO_OBJECT, NO_VALUES = "its config.json is not a JSON object", "its config.json has values that no llama model has"
CASES: dict[str, tuple[Callable[[Path], object], str]] = {
    "hostile pickle": (hostile, USE_SAFETENSORS),
    "raw pickle": (lambda folder: pickled(folder, pickle.dumps(Runs(folder / "ran"))), USE_SAFETENSORS),
    "empty pickle": (lambda folder: pickled(folder, b""), USE_SAFETENSORS),
    "cut pickle": (cut, USE_SAFETENSORS),
    "no safetensors": (lambda folder: (folder / "model.safetensors").write_bytes(b"not a model"), DAMAGED),
    "other shapes": (lambda folder: config(folder, hidden_size=32), "its weights have other shapes than"),
    "quantised": (lambda folder: config(folder, quantization_config={"quant_method": "gptq", "bits": 4}), "(gptq)"),
    "no JSON": (lambda folder: (folder / "config.json").write_text("{"), NO_OBJECT),
    "a list": (lambda folder: (folder / "config.json").write_text("[]"), NO_OBJECT),
    "deep JSON": (lambda folder: (folder / "config.json").write_text("[" * 100_000), NO_OBJECT),
    "no kind": (lambda folder: config(folder, model_type=None), "has no model_type"),
    "code of its own": (foreign, "of the kind 'evil', which transformers does not know, and code that comes with a"),
    "a word for a number": (lambda folder: config(folder, hidden_size="many"), NO_VALUES),
    "a negative number": (lambda folder: config(folder, num_hidden_layers=-1), NO_VALUES),
    "no heads": (lambda folder: config(folder, num_attention_heads=0), NO_VALUES),
    "names that are numbers": (lambda folder: config(folder, architectures=5), NO_VALUES),
    "tokenizer": (lambda folder: (folder / "tokenizer.json").write_text("{"), "The tokenizer of"),
    "index": (indexed("{"), f"{INDEX} is damaged"),
    "empty index": (indexed("{}"), f"{INDEX} is damaged"),
    "index of a list": (indexed('{"weight_map": [1]}'), f"{INDEX} is damaged"),
}


@pytest.mark.parametrize(("change", "said"), CASES.values(), ids=CASES)
def test_a_damaged_or_foreign_folder_is_refused_in_our_own_words(change, said, tmp_path):
    folder = Path(save(tmp_path / "model", byte_level()))
    change(folder)
    sentence = refusal(str(folder))
    assert said in sentence and sentence.endswith(".")
    assert not [words for words in FOREIGN if words in sentence]
    assert not (folder / "ran").exists()


def test_an_unexpected_error_names_no_folder():
    error = PermissionError(13, "Permission denied", "/somewhere/model/config.json")
    assert describe_error(error) == "PermissionError: Permission denied."
