"""Room on the disk for what a family would download, looked at before anything is fetched."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from csd.models.memory import size
from csd.models.spec import FamilyError, ModelSpec

SPARE = 2**30  # bytes that stay free


def download_size(model: ModelSpec, revision: str, names: Collection[str]) -> int | None:
    """Bytes of these files of a Hub model, from the Hub's metadata; None if the Hub does not say."""
    import huggingface_hub as hub

    try:
        siblings = hub.model_info(model.id, revision=revision, files_metadata=True, timeout=10).siblings or []
    except Exception:  # no network, no such model: the download itself says which
        return None
    sizes = [one.size for one in siblings if one.rfilename in names]
    return sum(found) if sizes and len(found := [one for one in sizes if one]) == len(sizes) else None


def check_disk(model: ModelSpec, needed: int | None, folder: Path, unknown: bool = True) -> None:
    """Raise FamilyError where a download has no room in a folder's disk, or, without `unknown`, no known size."""
    if needed is None:
        if unknown:
            return
        raise FamilyError(
            f"{model.id} is not downloaded: the Hub does not say how large its files are. Choose another model."
        )
    free = shutil.disk_usage(_existing(folder)).free
    if needed + SPARE > free:
        raise FamilyError(
            f"{model.id} is not downloaded: it takes {size(needed)}, and the disk has {size(free)} free, of which "
            f"{size(SPARE)} stay free. Delete models that you no longer need (`hf cache rm`), or choose a smaller one."
        )


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next(path for path in (folder, *folder.parents) if path.exists())
