"""What is wrong with the name of a model, told before anything is loaded. No weights are read, nor is the Hub asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from csd.models.hub import check_folder, check_path
from csd.models.spec import FamilyError, ModelSpec, custom, split_names
from csd.ranges import shorten

LIKE_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)
HUB_ID = "A Hub ID looks like owner/name, such as Qwen/Qwen3-0.6B, and a path must exist."


def target_fault(name: str) -> str:
    """A sentence; "" where nothing is wrong, or nothing is named yet."""
    return _first_fault(lambda: (custom(name).target,)) if name.strip() else ""


def drafts_fault(names: str) -> str:
    """The same for drafts, separated as in the form: about the first one that is wrong."""
    return _first_fault(lambda: custom("owner/target", split_names(names)).without_copies().drafts)


def _first_fault(models: Callable[[], Sequence[ModelSpec]]) -> str:
    try:
        for model in models():
            _check(model)
    except FamilyError as error:
        return str(error)
    return ""


def _check(model: ModelSpec) -> None:
    """Raise FamilyError for a model that is nowhere, as far as this machine knows."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.constants import HF_HUB_OFFLINE
    from huggingface_hub.errors import HFValidationError

    local = check_path(model.id) if model.id else None
    if local is not None:
        if local.is_dir():
            check_folder(model.id, local)
        elif local.suffix.lower() != ".gguf":
            raise FamilyError(f"{shorten(model.id)} is not a GGUF file. Give one, or the folder or Hub ID of a model.")
        return
    try:
        cached = isinstance(try_to_load_from_cache(model.id, "config.json", revision=model.revision), str)
    except HFValidationError:
        cached = False
    if cached:
        return
    if not LIKE_ID.fullmatch(model.id):
        raise FamilyError(f"{shorten(model.id)!r} is neither a Hub ID nor a path on this computer. {HUB_ID}")
    if HF_HUB_OFFLINE:
        raise FamilyError(
            f"{shorten(model.id)} is not on this computer, and loading from the Hub is switched off here "
            "(HF_HUB_OFFLINE). Give the path of a folder or a GGUF file."
        )
