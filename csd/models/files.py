"""Where the files of a model are on this machine. Needs no network and imports no torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from csd.models.gguf_file import GgufFile
from csd.models.spec import FamilyError, FamilySpec, ModelSpec
from csd.paths import local_path

SAFETENSORS, PICKLE, GGUF = "model.safetensors", "pytorch_model.bin", ".gguf"


@dataclass(frozen=True)
class ModelFiles:
    """A folder with a model's files, and the one GGUF file in it that holds the whole model, if it is such a model.

    `commit` is the Hub's commit of a downloaded snapshot; empty for files of the user's own.
    """

    folder: Path
    gguf: GgufFile | None = None
    commit: str = ""

    @property
    def source(self) -> dict[str, Any]:
        """What transformers' `from_pretrained` is told about where to read; nothing is downloaded or executed."""
        where = {
            "pretrained_model_name_or_path": self.folder,
            "local_files_only": True,
            "trust_remote_code": False,
        }
        return {**where, "gguf_file": self.gguf.path.name} if self.gguf else where

    @property
    def version(self) -> str:
        """Identifies the state of the files: the Hub's commit, or the time of the last change."""
        if self.commit:
            return self.commit
        paths = [self.gguf.path] if self.gguf else self.folder.iterdir()
        return str(max(path.stat().st_mtime_ns for path in paths))


def cached_folder(model: ModelSpec) -> Path | None:
    """The snapshot of a Hub model in the local cache; None unless its config, tokenizer and weights are all there."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(model.id, "config.json", revision=model.revision)
    except HFValidationError:  # not even the form of a Hub ID
        return None
    folder = Path(config).parent if isinstance(config, str) else None
    return folder if folder and (folder / "tokenizer_config.json").is_file() and has_weights(folder) else None


def bundled_file(model: ModelSpec) -> Path | None:
    """The GGUF file in the Python package of a model, if that is installed. The package is not imported."""
    found = find_spec(model.package) if model.package else None
    folders = (found.submodule_search_locations or ()) if found else ()
    return next((file for folder in folders for file in sorted(Path(folder).glob(f"*{GGUF}"))), None)


def is_present(spec: FamilySpec) -> bool:
    """Whether a family can be loaded without a download."""
    return all(local_path(model.id) or cached_folder(model) or bundled_file(model) for model in spec.models)


def has_weights(folder: Path) -> bool:
    """Whether a folder contains complete weights in one of the usual formats."""
    parts = indexed_parts(folder)
    alternatives = ([SAFETENSORS], parts or [PICKLE])
    return any(all((folder / name).is_file() for name in names) for names in alternatives)


def indexed_parts(folder: Path) -> list[str]:
    """The parts of weights that are split into several files; empty without an index. Raises FamilyError."""
    for index in (f"{SAFETENSORS}.index.json", f"{PICKLE}.index.json"):
        if (folder / index).is_file():
            try:
                return sorted(set(json.loads((folder / index).read_text(encoding="utf-8"))["weight_map"].values()))
            except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise FamilyError(
                    f"The weights cannot be found: {index} is damaged. Download the model again."
                ) from error
    return []
