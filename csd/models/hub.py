"""Model files: local folders and downloads from the Hugging Face Hub, with the Hub's errors as sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

from csd.models.catalog import FamilyError, ModelSpec, size
from csd.models.messages import Progress, first_line
from csd.paths import ROOT

CONFIG_FILES = ("*.json", "*.model", "*.txt", "*.jinja")  # what a repository contains besides weights
SAFETENSORS, PICKLE = "model.safetensors", "pytorch_model.bin"


def local_folder(id: str) -> Path | None:
    """The folder with this path, absolute, relative, or inside this project; None if `id` is a Hub ID."""
    return next((path for path in (Path(id).expanduser(), ROOT / id) if path.is_dir()), None)


def find_folder(model: ModelSpec) -> Path:
    """The folder with a model's config and tokenizer, downloaded if necessary, without weights. Raises FamilyError."""
    folder = local_folder(model.id)
    if folder is None:
        from huggingface_hub import snapshot_download

        with hub_errors(model):
            folder = Path(
                snapshot_download(
                    model.id, revision=model.revision, allow_patterns=list(CONFIG_FILES), ignore_patterns=["*/*"]
                )
            )
    if not (folder / "config.json").is_file():
        raise FamilyError(
            f"{model.id} does not contain a model: config.json is missing. "
            "Give the folder or Hub ID of a language model."
        )
    return folder


def version_of(model: ModelSpec, folder: Path) -> str:
    """Identifies the state of a model's files: the Hub's commit, or the time of the last change in a local folder."""
    if local_folder(model.id) is None:
        return folder.name  # the Hub's cache names the folder of a snapshot after its commit
    return str(max(path.stat().st_mtime_ns for path in folder.iterdir()))


def count_parameters(model: ModelSpec, folder: Path) -> int:
    """How many numbers the safetensors files contain, read from their headers; 0 if unknown."""
    import huggingface_hub as hub
    from huggingface_hub import errors

    try:
        if local_folder(model.id) is not None:
            metadata = hub.get_local_safetensors_metadata(folder)
        else:
            with hub_errors(model):
                metadata = hub.get_safetensors_metadata(model.id, revision=folder.name)
    except (
        FamilyError,
        OSError,
        ValueError,
        KeyError,
        errors.NotASafetensorsRepoError,
        errors.SafetensorsParsingError,
    ):
        return 0  # other formats, damaged files, no network: the user is told that the size is unknown
    return sum(metadata.parameter_count.values())


def fetch_weights(model: ModelSpec, folder: Path, progress: Progress) -> None:
    """Download a model's weights next to its config, unless they are there already. Raises FamilyError."""
    parts = _indexed_files(folder)
    alternatives = [[SAFETENSORS], parts or [PICKLE]]
    if any(_exist(folder, names) for names in alternatives):
        return
    if local_folder(model.id) is not None:
        raise FamilyError(
            f"The folder {model.id} does not contain complete weights ({SAFETENSORS} or all of its parts)."
        )
    from huggingface_hub import snapshot_download

    for names in [parts] if parts else alternatives:
        with hub_errors(model):
            bar = _progress_bar_class(progress)
            snapshot_download(model.id, revision=folder.name, allow_patterns=names, tqdm_class=bar)
        if _exist(folder, names):
            return
    raise FamilyError(
        f"The weights of {model.id} could not be fetched: the repository has neither {SAFETENSORS} nor {PICKLE}, or "
        "the Hugging Face Hub cannot be reached and they are not in the local cache. Choose another model."
    )


def load_weights(model: ModelSpec, folder: Path, device: str, dtype: str) -> Any:
    """The model on its device, for inference only. Raises FamilyError, also for weights that do not fill the model."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM

    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        auto: Any = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        # with output_loading_info it returns a pair, which its types do not say
        loaded, report = auto.from_pretrained(
            folder,
            dtype=getattr(torch, dtype),
            device_map={"": device},
            attn_implementation="sdpa",
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except Exception as error:  # damaged files and full devices fail in many ways
        raise FamilyError(f"{model.id} could not be loaded: {first_line(error)}") from error
    missing = sorted(report["missing_keys"])
    if missing:
        raise FamilyError(
            f"The weights of {model.id} are incomplete: {missing[0]} is missing, and perhaps others. "
            "Download them again."
        )
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
        raise FamilyError(
            f"{model.id} could not be fetched: the Hugging Face Hub cannot be reached, and the model is not in the "
            "local cache. Check the network, or choose the embedded family."
        ) from error


def _indexed_files(folder: Path) -> list[str]:
    """The parts of weights that are split into several files; empty if there is no index of them."""
    for index in (f"{SAFETENSORS}.index.json", f"{PICKLE}.index.json"):
        if (folder / index).is_file():
            return sorted(set(json.loads((folder / index).read_text())["weight_map"].values()))
    return []


def _exist(folder: Path, names: Sequence[str]) -> bool:
    return all((folder / name).is_file() for name in names)


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
