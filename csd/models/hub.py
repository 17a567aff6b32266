"""Model files: folders, GGUF files and downloads from the Hugging Face Hub, with the Hub's errors as sentences."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

from csd.models.damage import weights_fault
from csd.models.disk import check_disk, download_size
from csd.models.faults import is_out_of_memory
from csd.models.files import (
    GGUF,
    PICKLE,
    SAFETENSORS,
    ModelFiles,
    bundled_file,
    cached_folder,
    has_weights,
    indexed_parts,
)
from csd.models.gguf_file import check_weights, read_gguf
from csd.models.gguf_reuse import reuse_last
from csd.models.memory import size
from csd.models.messages import Progress
from csd.models.spec import FamilyError, ModelSpec
from csd.paths import local_path

PATHS = ("/", "./", "../", "~", ".\\", "..\\")  # how a path begins, and no Hub ID
CONFIG_FILES = ("*.json", "*.model", "*.txt", "*.jinja")  # what a repository contains besides weights


def find_files(model: ModelSpec) -> ModelFiles:
    """Where a model's files are: a GGUF file, a folder, or a snapshot from the Hub, so far without weights.

    Raises FamilyError.
    """
    local = check_path(model.id)
    cached = cached_folder(model) if model.package and not local else None  # complete: the Hub need not be asked
    path = local or cached or bundled_file(model)
    if path is not None and path.is_file():
        return ModelFiles(path.parent, read_gguf(path))
    folder = path or _download_configs(model)
    check_folder(model.id, folder)
    return ModelFiles(folder, commit="" if local else folder.name)  # the Hub's cache names a snapshot after its commit


def check_path(id: str) -> Path | None:
    """The file or folder that an ID names; None for a model on the Hub. Raises FamilyError for a path to nowhere."""
    local = local_path(id)
    if local is None and id.lower().endswith(GGUF):
        raise FamilyError(f"There is no file {id}. Check the path of the GGUF file.")
    if local is None and id.startswith(PATHS):
        raise FamilyError(f"There is no folder {id}. Check the path: it may have been moved or deleted.")
    return local


def check_folder(id: str, folder: Path) -> None:
    """Raise FamilyError for a folder without a model."""
    if (folder / "config.json").is_file():
        return
    inside = next((f" Name the GGUF file itself: {file}." for file in sorted(folder.glob(f"*{GGUF}"))), "")
    raise FamilyError(
        f"{id} does not contain a model: config.json is missing. "
        f"Give the folder or Hub ID of a language model, or a GGUF file.{inside}"
    )


def _download_configs(model: ModelSpec) -> Path:
    from huggingface_hub import snapshot_download

    with hub_errors(model):
        return Path(
            snapshot_download(
                model.id, revision=model.revision, allow_patterns=list(CONFIG_FILES), ignore_patterns=["*/*"]
            )
        )


def count_parameters(model: ModelSpec, files: ModelFiles) -> int:
    """How many numbers the files contain, read from their headers; 0 if unknown."""
    import huggingface_hub as hub
    from huggingface_hub import errors

    if files.gguf:
        return files.gguf.parameters
    try:
        if not files.commit:
            metadata = hub.get_local_safetensors_metadata(files.folder)
        else:
            with hub_errors(model):
                metadata = hub.get_safetensors_metadata(model.id, revision=files.commit)
    except (
        FamilyError,
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        errors.NotASafetensorsRepoError,
        errors.SafetensorsParsingError,
    ):
        return 0  # other formats, damaged files, no network: the user is told that the size is unknown
    return sum(metadata.parameter_count.values())


def fetch_weights(model: ModelSpec, files: ModelFiles, progress: Progress, unknown_size: bool = True) -> None:
    """Download a model's weights next to its config, unless they are there already.

    Raises FamilyError, also where the disk has no room, and without `unknown_size` where the Hub does not say how much
    they take.
    """
    if files.gguf:
        return
    if has_weights(files.folder):
        return
    if not files.commit:
        raise FamilyError(
            f"The folder {model.id} does not contain complete weights ({SAFETENSORS} or all of its parts)."
        )
    from huggingface_hub import snapshot_download

    parts = indexed_parts(files.folder)
    for names in [parts] if parts else [[SAFETENSORS], [PICKLE]]:
        missing = [name for name in names if not (files.folder / name).is_file()]
        check_disk(model, download_size(model, files.commit, missing), files.folder, unknown_size)
        with hub_errors(model):
            bar = _progress_bar_class(progress)
            snapshot_download(model.id, revision=files.commit, allow_patterns=names, tqdm_class=bar)
        if has_weights(files.folder):
            return
    raise FamilyError(
        f"The weights of {model.id} could not be fetched: the repository has neither {SAFETENSORS} nor {PICKLE}, or "
        "the Hugging Face Hub cannot be reached and they are not in the local cache. Choose another model."
    )


def load_weights(model: ModelSpec, files: ModelFiles, config: Any, devices: Mapping, dtype: str) -> Any:
    """The model on its devices, for inference only; `devices` names them by part, as `placement.Modules` does.

    Raises FamilyError, also for weights that do not fill the model.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

    try:
        auto: Any = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        # with output_loading_info it returns a pair, which its types do not say
        with reuse_last("get_tensor_name_map"):
            loaded, report = auto.from_pretrained(
                config=config,
                dtype=getattr(torch, dtype),
                device_map=dict(devices),
                attn_implementation="sdpa",
                output_loading_info=True,
                **files.source,
            )
    except Exception as error:  # damaged files and full devices fail in many ways
        if is_out_of_memory(error):
            raise
        raise FamilyError(weights_fault(model, files, config, error)) from error
    missing = sorted(report["missing_keys"])
    if missing:
        raise FamilyError(
            f"The weights of {model.id} are incomplete: {missing[0]} is missing, and perhaps others. "
            "Download them again."
        )
    if files.gguf:
        check_weights(files.gguf, loaded)
        loaded.generation_config.eos_token_id = files.gguf.ends or None
    return loaded.eval().requires_grad_(False)


@contextmanager
def hub_errors(model: ModelSpec) -> Iterator[None]:
    """Turns the Hub's errors into FamilyErrors."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as error:
        raise FamilyError(
            f"{model.id} is gated. Accept its license at https://huggingface.co/{model.id}, log in with "
            "`hf auth login`, and try again."
        ) from error
    except errors.RevisionNotFoundError as error:
        raise FamilyError(
            f"{model.id} has no revision called {model.revision!r}. Omit the revision or choose another."
        ) from error
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise FamilyError(
            f"There is no model {model.id!r}: it is not a local folder, and on the Hugging Face Hub it does not exist "
            "or is private. Check the spelling, or log in with `hf auth login`."
        ) from error
    except Exception as error:  # the HTTP client's own errors differ between versions of huggingface_hub
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise FamilyError(
                f"{model.id} could not be fetched: the disk is full. Delete models that you no longer need "
                "(`hf cache rm`), and load it again."
            ) from error
        raise FamilyError(
            f"{model.id} could not be fetched: the Hugging Face Hub cannot be reached or the connection broke, and "
            "the model is not complete in the local cache. Check the network and load it again, which goes on where it "
            "stopped, or choose the embedded family."
        ) from error


def _progress_bar_class(progress: Progress) -> type:
    """A progress bar for the Hub's downloads that reports sentences instead of drawing."""
    from tqdm import tqdm

    class ReportingBar(tqdm):
        said = ""

        def __init__(self, *args: Any, **kwargs: Any):
            super().__init__(*args, **{**kwargs, "file": StringIO()})  # a bar writes a line break even if not drawn

        def display(self, msg: str | None = None, pos: int | None = None) -> None:
            # Of the Hub's bars only the bytes written to disk count, not files, nor bytes received ("Download...").
            if self.unit == "B" and self.total and not str(self.desc).startswith("Download"):
                sentence = f"{size(self.n)} of {size(self.total)}"
                if sentence != self.said:
                    self.said = sentence
                    progress(sentence)

    return ReportingBar
