"""Where the files of a model are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from csd.models.gguf_file import GgufFile


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
