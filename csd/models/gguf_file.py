"""A GGUF file as a model: what it says about itself, and where transformers must be told more than it reads.

transformers rebuilds the config and the weights from a GGUF file. It ignores scaled positions and drops tensors for
which its model has no place, both silently; a file is refused here rather than run as another model.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from csd.models.messages import first_line
from csd.models.spec import FamilyError

ROPE_FACTORS = "rope_freqs.weight"  # what llama.cpp stores for Llama 3's scaled positions
LLAMA3_ROPE = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
EXACT = ("F32", "F16", "BF16", "F64")  # types of numbers that are not quantised

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, repr=False)
class GgufFile:
    """What a GGUF file contains besides its weights.

    `metadata` holds its key-value pairs, `shapes` and `types` the shape and the type (such as Q4_1) of each tensor,
    `rope_factors` the divisors of the rotary frequencies, if there are any.
    """

    path: Path
    metadata: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    types: Mapping[str, str]
    rope_factors: tuple[float, ...] = ()

    @property
    def parameters(self) -> int:
        """How many weights the file contains; tied ones are stored once."""
        return sum(prod(shape) for name, shape in self.shapes.items() if name != ROPE_FACTORS)

    @property
    def type(self) -> str:
        """The type of most of the weights, such as Q4_1."""
        counts: Counter[str] = Counter()
        for name, shape in self.shapes.items():
            counts[self.types[name]] += prod(shape)
        return counts.most_common(1)[0][0]

    @property
    def ends(self) -> list[int]:
        """The ids that end a text or a turn."""
        keys = (f"tokenizer.ggml.{kind}_token_id" for kind in ("eos", "eot", "eom"))
        return sorted({int(self.metadata[key]) for key in keys if key in self.metadata})

    def note(self, name: str) -> str:
        """A sentence for the user about the weights of the model called `name`; empty if they are not quantised."""
        if self.type in EXACT:
            return ""
        whose = "The big model’s weights" if name == "target" else f"The weights of {name}"
        return f"{whose} come from a quantised file ({self.path.name}, {self.type})."


def read_gguf(path: Path) -> GgufFile:
    """Reads everything but the weights. Raises FamilyError for a file that cannot be used, with the reason."""
    try:
        from gguf import GGUFReader
    except ImportError as error:
        raise FamilyError("Reading GGUF files needs the package gguf: run `pip install gguf`.") from error
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise FamilyError(f"{path.name} is not a GGUF file. Download it again, or choose another.")
    try:
        reader = GGUFReader(str(path))  # as transformers calls it: see gguf_reuse
        metadata = {name: field.contents() for name, field in reader.fields.items()}
        shapes = {tensor.name: tuple(int(size) for size in tensor.shape) for tensor in reader.tensors}
        types = {tensor.name: tensor.tensor_type.name for tensor in reader.tensors}
        factors = [tensor.data.tolist() for tensor in reader.tensors if tensor.name == ROPE_FACTORS]
    except Exception as error:  # a truncated file fails wherever it happens to end
        log.warning("%s: %s", path, first_line(error))
        raise FamilyError(f"{path.name} is damaged or incomplete. Download it again.") from error
    if metadata.get("split.count", 1) > 1:
        raise FamilyError(f"{path.name} is one part of several. Join them with `llama-gguf-split --merge` first.")
    return GgufFile(path, metadata, shapes, types, tuple(factors[0]) if factors else ())


def complete_config(file: GgufFile, config: Any) -> Any:
    """The config that transformers read from a file, with the scaled positions that it ignores. Raises FamilyError."""
    architecture = file.metadata["general.architecture"]
    kind = file.metadata.get(f"{architecture}.rope.scaling.type", "none")
    others = [name for name in file.shapes if name.startswith("rope_") and name != ROPE_FACTORS]
    if others or kind not in ("none", ""):
        raise FamilyError(
            f"{file.path.name} stretches its positions ({others[0] if others else kind}), which transformers does not "
            "read from a GGUF file. Use the model's folder or its Hub ID instead."
        )
    if file.rope_factors:
        config.rope_parameters = {**config.rope_parameters, **_llama3_rope(file, config)}
    return config


def _llama3_rope(file: GgufFile, config: Any) -> dict[str, Any]:
    """The parameters of Llama 3's scaling that give the divisors of the file. Raises FamilyError if none do."""
    import torch
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    theta = config.rope_parameters["rope_theta"]
    scaled = {"rope_type": "llama3", "rope_theta": theta, "factor": max(file.rope_factors), **LLAMA3_ROPE}
    tried = type(config)(head_dim=config.head_dim, hidden_size=config.hidden_size, rope_parameters=scaled)
    plain = theta ** -(torch.arange(0, config.head_dim, 2, dtype=torch.float32) / config.head_dim)
    found, _ = ROPE_INIT_FUNCTIONS["llama3"](tried, torch.device("cpu"))
    stored = torch.tensor(file.rope_factors)
    if stored.shape != plain.shape or not torch.allclose(plain / found, stored, rtol=1e-3):
        raise FamilyError(
            f"{file.path.name} scales its positions in a way that is not Llama 3's. "
            "Use the model's folder or its Hub ID instead."
        )
    return scaled


def check_weights(file: GgufFile, model: Any) -> None:
    """Raises FamilyError unless every weight of the file has a place in the model."""
    placed = model.num_parameters()
    if placed != file.parameters:
        raise FamilyError(
            f"{file.path.name} has {file.parameters:,} weights, and transformers finds a place for {placed:,} of them. "
            "Use the model's folder or its Hub ID instead."
        )
