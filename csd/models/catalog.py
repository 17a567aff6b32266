"""Which model families there are, what they hold and what they need; a table, without torch.

A family is a target and its drafts, strongest first, over one tokenizer. `embedded` lies in the repository,
the others are fetched from the Hugging Face Hub, and `custom` makes one of any ids or folders.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
LANES = 3  # a race holds this many key-value caches of every model
RESERVED = ("target", "MaxGram", "Bigram")  # level names that no draft may have
LONGEST = 4096  # tokens of context a race uses at most, whatever a model could do; caches are as long as this
FUSED = (
    2**30
)  # bytes of weights up to which a CPU keeps a second, rearranged copy (csd.models.backends.llama_cpu.LARGEST)
MARGIN = 512 * 2**20  # bytes for activations, logits, recorded graphs and the runtime


class FamilyError(ValueError):
    """Why a family cannot be opened, in a sentence for the visitor."""


@dataclass(frozen=True)
class ModelSpec:
    """One model: its level's name, its Hub id or folder, and what is known of its size before loading.

    `parameters` counts weights (tied ones once), `cache` the numbers that one token takes in the key-value cache
    (2 x layers x key-value heads x head size), `context` the tokens it can read; 0 where unknown.
    """

    name: str
    id: str
    revision: str = "main"
    dtype: str = "auto"
    parameters: int = 0
    cache: int = 0
    context: int = 0


@dataclass(frozen=True)
class FamilySpec:
    """A target and its drafts, strongest first.

    `chat` says whether a prompt becomes a user's turn; None: if the tokenizer has a chat template. `turn` is how a turn
    is written where it has none, with {} for the text. `tokenizer` is the folder of a tokenizer that all models share; empty: each
    has its own, and they are compared. `bigram` is the file of a ready bigram table.
    """

    name: str
    target: ModelSpec
    drafts: tuple[ModelSpec, ...] = ()
    chat: bool | None = None
    about: str = ""
    tokenizer: str = ""
    turn: str = ""
    bigram: str = ""

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """Target first, then the drafts, strongest first: the order of loading."""
        return (self.target, *self.drafts)


def short_names(ids: Sequence[str]) -> tuple[str, ...]:
    """Level names for drafts: the last part of each id, made unique."""
    taken = set(RESERVED)
    names = []
    for id in ids:
        stem = re.split(r"[/\\]", id.rstrip("/\\"))[-1] or "draft"
        name, count = stem, 1
        while name in taken:
            count += 1
            name = f"{stem}-{count}"
        taken.add(name)
        names.append(name)
    return tuple(names)


def custom(target: str, drafts: Sequence[str] = (), dtype: str = "auto", chat: bool | None = None) -> FamilySpec:
    """A family of any Hub ids or local folders, drafts strongest first; "id@revision" picks a revision.

    Raises FamilyError for an empty id.
    """
    places = [_place(text) for text in (target, *drafts)]
    names = ("target", *short_names([id for id, _ in places[1:]]))
    models = [ModelSpec(name, id, revision, dtype) for name, (id, revision) in zip(names, places)]
    return FamilySpec(f"custom: {places[0][0]}", models[0], tuple(models[1:]), chat, "Models of your own choice.")


def _place(text: str) -> tuple[str, str]:
    text = text.strip()
    if not text:
        raise FamilyError("A model's name is empty. Give a Hugging Face id such as Qwen/Qwen3-0.6B, or a folder.")
    if "@" in text and not Path(text).is_dir():
        id, revision = text.rsplit("@", 1)
        return id, revision or "main"
    return text, "main"


def find(name: str) -> FamilySpec:
    """The ready family of this name; raises FamilyError that lists the names there are."""
    for spec in READY:
        if spec.name == name:
            return spec
    raise FamilyError(f"There is no family called {name!r}. Choose one of: {', '.join(spec.name for spec in READY)}.")


def memory_needed(spec: FamilySpec, dtype: str) -> int | None:
    """Bytes to run a family in `dtype` (models that name their own keep it); None where a size is unknown.

    weights x bytes  +  3 lanes x cache numbers per token x context x bytes, over all models, + 10 % of that + 512 MiB;
    in float32 and float64, which run on CPUs, weights of up to 1 GiB count twice.
    """
    if any(not (model.parameters and model.cache and model.context) for model in spec.models):
        return None
    return round(1.1 * sum(_bytes(model, dtype) for model in spec.models)) + MARGIN


def _bytes(model: ModelSpec, dtype: str) -> int:
    each = BYTES[dtype if model.dtype == "auto" else model.dtype]
    weights = model.parameters * each
    copy = weights if each >= 4 and weights <= FUSED else 0
    return weights + copy + LANES * model.cache * min(model.context, LONGEST) * each


def size(count: float) -> str:
    """Bytes as people read them."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


def _model(name: str, id: str, parameters: int, layers: int, heads: int, head: int, context: int) -> ModelSpec:
    return ModelSpec(name, id, parameters=parameters, cache=2 * layers * heads * head, context=context)


def _hub(name: str, about: str, *rows: tuple[str, int, int, int, int, int], turn: str = "") -> FamilySpec:
    """One row per model, target first: id, parameters, layers, key-value heads, head size, context."""
    names = ("target", *short_names([row[0] for row in rows[1:]]))
    models = [_model(name, *row) for name, row in zip(names, rows)]
    return FamilySpec(name, models[0], tuple(models[1:]), True, about, turn=turn)


_VICUNA = (
    "A chat between a curious user and an artificial intelligence assistant. The assistant gives helpful, detailed, "
    "and polite answers to the user's questions. USER: {} ASSISTANT:"
)

READY: tuple[FamilySpec, ...] = (
    FamilySpec(
        "embedded",
        _model("target", "assets/family/target", 19_977_280, 14, 5, 64, 1024),
        (
            _model("draft-mid", "assets/family/draft-mid", 3_344_064, 4, 3, 64, 1024),
            _model("draft-small", "assets/family/draft-small", 1_249_664, 1, 2, 64, 1024),
        ),
        chat=False,
        about="Three small models that come with this project and need no download: 20 M, 3.3 M and 1.2 M parameters.",
        tokenizer="assets/family",
        bigram="assets/family/bigram.json",
    ),
    _hub(
        "SmolLM2",
        "1.7 B with drafts of 360 M and 135 M. The smallest ready family from the Hub; also runs on a CPU.",
        ("HuggingFaceTB/SmolLM2-1.7B-Instruct", 1_711_376_384, 24, 32, 64, 8192),
        ("HuggingFaceTB/SmolLM2-360M-Instruct", 361_821_120, 32, 5, 64, 8192),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", 134_515_008, 30, 3, 64, 8192),
    ),
    _hub(
        "Qwen2.5",
        "7.6 B with drafts of 1.5 B and 0.5 B.",
        ("Qwen/Qwen2.5-7B-Instruct", 7_615_616_512, 28, 4, 128, 32768),
        ("Qwen/Qwen2.5-1.5B-Instruct", 1_543_714_304, 28, 2, 128, 32768),
        ("Qwen/Qwen2.5-0.5B-Instruct", 494_032_768, 24, 2, 64, 32768),
    ),
    _hub(
        "Qwen3",
        "8.2 B with drafts of 1.7 B and 0.6 B; its thinking is switched off.",
        ("Qwen/Qwen3-8B", 8_190_735_360, 36, 8, 128, 40960),
        ("Qwen/Qwen3-1.7B", 1_720_574_976, 28, 8, 128, 40960),
        ("Qwen/Qwen3-0.6B", 596_049_920, 28, 8, 128, 40960),
    ),
    _hub(
        "Llama 3",
        "8.0 B with drafts of 3.2 B and 1.2 B. Gated: accept Meta's licence on the Hub and log in first.",
        ("meta-llama/Llama-3.1-8B-Instruct", 8_030_261_248, 32, 8, 128, 131072),
        ("meta-llama/Llama-3.2-3B-Instruct", 3_212_749_824, 28, 8, 128, 131072),
        ("meta-llama/Llama-3.2-1B-Instruct", 1_235_814_400, 16, 8, 64, 131072),
    ),
    _hub(
        "Vicuna",
        "Vicuna 7B with LLaMA drafts of 160 M and 68 M, close to the pair of the paper.",
        ("lmsys/vicuna-7b-v1.5", 6_738_415_616, 32, 32, 128, 4096),
        ("JackFram/llama-160m", 162_417_408, 12, 12, 64, 2048),
        ("JackFram/llama-68m", 68_030_208, 2, 12, 64, 2048),
        turn=_VICUNA,
    ),
)
