"""What is wrong with a model's files, in sentences of our own. What a library said of them, which may be advice to run
foreign code, or name folders of this machine, goes to the log."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from csd.models.files import PICKLE, SAFETENSORS, ModelFiles
from csd.models.messages import first_line
from csd.models.spec import ModelSpec

AGAIN = "Download the model again, or choose another."

log = logging.getLogger(__name__)


def config_fault(model: ModelSpec, files: ModelFiles, error: Exception) -> str:
    """Why no config could be made of a model's files."""
    _keep(model.id, error)
    if files.gguf:
        kind = files.gguf.metadata.get("general.architecture")
        return (
            f"{model.id} cannot be loaded: GGUF files of the architecture {str(kind)[:40]} are not supported. "
            "Use the model's folder or its Hub ID instead."
        )
    written = _read_config_file(files.folder / "config.json")
    if written is None:
        return f"The config of {model.id} is damaged: its config.json is not a JSON object. {AGAIN}"
    kind = written.get("model_type")
    if not isinstance(kind, str):
        return f"The config of {model.id} cannot be used: its config.json has no model_type. {AGAIN}"
    if not _is_known(kind):
        return (
            f"{model.id} is a model of the kind {kind[:40]!r}, which transformers does not know, and code that comes "
            "with a model is never run. Choose a model of a kind that transformers contains."
        )
    return f"The config of {model.id} is damaged: its config.json has values that no {kind} model has. {AGAIN}"


def weights_fault(model: ModelSpec, files: ModelFiles, config: Any, error: Exception) -> str:
    """Why a model's weights could not be loaded."""
    _keep(model.id, error)
    if quantised := getattr(config, "quantization_config", None):
        method = quantised.get("quant_method") if isinstance(quantised, dict) else quantised.quant_method
        return (
            f"{model.id} could not be loaded: its weights are quantised ({str(method)[:40]}). "
            "Choose the model without quantisation, or a GGUF file."
        )
    if "size mismatch" in str(error) or "ignore_mismatched_sizes" in str(error):
        return f"{model.id} could not be loaded: its weights have other shapes than its config.json says. {AGAIN}"
    if not files.gguf and not any(files.folder.glob("*.safetensors")):
        return (
            f"{model.id} could not be loaded: {PICKLE} is damaged, or contains more than weights, and code in it is "
            f"never run. Use a model whose weights are in the format safetensors ({SAFETENSORS})."
        )
    if type(error).__name__ == "SafetensorError":
        return f"{model.id} could not be loaded: its weights are damaged or incomplete. {AGAIN}"
    return (
        f"{model.id} could not be loaded: its weights are damaged or do not fit its config, or the device failed "
        f"({type(error).__name__}; the log says more). {AGAIN}"
    )


def tokenizer_fault(id: str, error: Exception) -> str:
    """Why a model's tokenizer could not be read."""
    _keep(id, error)
    return (
        f"The tokenizer of {id} cannot be read: its files, such as tokenizer.json, are missing or damaged, or need "
        f"code or a package that is not here (the log says more). {AGAIN}"
    )


def _keep(id: str, error: Exception) -> None:
    log.warning("%s: %s: %s", id, type(error).__name__, first_line(error))


def _read_config_file(file: Path) -> dict[str, Any] | None:
    try:
        written = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return written if isinstance(written, dict) else None


def _is_known(kind: str) -> bool:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return kind in CONFIG_MAPPING
