"""The tokenizer that a GGUF file describes.

transformers drops the pre-tokenizers that it does not know, and text is then cut into other tokens than the model was
trained on. Byte-level BPE is therefore built here, and only for pre-tokenizers whose rules are known: those of the
models' own tokenizer.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from csd.models.damage import tokenizer_fault
from csd.models.gguf_file import GgufFile
from csd.models.spec import FamilyError

CONTROL, USER_DEFINED, UNUSED = 3, 4, 5  # kinds of tokens in a GGUF file that are treated in their own way
PREFIX = "tokenizer.ggml."
_LETTERS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


@dataclass(frozen=True)
class Rules:
    """How one byte-level BPE tokenizer treats text before merging.

    `split` makes its pre-tokenizer. `composed`: text is brought into Unicode's form NFC first. `whole_words`: a piece
    of text that is a token stays one, whatever the merges say. `opening`: a text begins with BOS unless the file says
    otherwise.
    """

    split: Callable[[], Any]
    composed: bool = False
    whole_words: bool = False
    opening: bool = False


def _gpt2() -> Any:
    from tokenizers import pre_tokenizers

    return pre_tokenizers.ByteLevel(add_prefix_space=False)


def _digits_apart() -> Any:
    from tokenizers import pre_tokenizers

    return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), _gpt2()])


def _pattern(numbers: str) -> Callable[[], Any]:
    def split() -> Any:
        from tokenizers import Regex, pre_tokenizers

        return pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(_LETTERS + numbers + _REST), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )

    return split


_LLAMA3 = Rules(_pattern(r"\p{N}{1,3}"), whole_words=True, opening=True)
RULES: Mapping[str, Rules] = {
    "gpt-2": Rules(_gpt2),
    "smollm": Rules(_digits_apart),
    "qwen2": Rules(_pattern(r"\p{N}"), composed=True),
    "llama-bpe": _LLAMA3,
    "llama3": _LLAMA3,
    "llama-v3": _LLAMA3,
}
"""The pre-tokenizers that are known, by the name that llama.cpp gives them in `tokenizer.ggml.pre`."""


def gguf_tokenizer(file: GgufFile) -> Any:
    """The tokenizer of a GGUF file, with its chat template. Raises FamilyError if its rules are not known."""
    kind = file.metadata.get(PREFIX + "model")
    try:
        if kind == "gpt2":
            return _byte_level(file)
        if kind == "llama":
            return _sentencepiece(file)
    except FamilyError:
        raise
    except Exception as error:  # vocabularies and merges that do not fit fail in many ways
        raise FamilyError(tokenizer_fault(file.path.name, error)) from error
    raise FamilyError(
        f"{file.path.name} has a tokenizer of the kind {kind!r}, which is not supported. "
        "Use the model's folder or its Hub ID instead."
    )


def _byte_level(file: GgufFile) -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, processors
    from transformers import PreTrainedTokenizerFast

    rules, meta = _rules(file), file.metadata
    tokens, kinds = meta[PREFIX + "tokens"], meta[PREFIX + "token_type"]
    vocab = {token: id for id, (token, kind) in enumerate(zip(tokens, kinds, strict=True)) if kind != UNUSED}
    merges = [tuple(pair.split(" ")) for pair in meta[PREFIX + "merges"]]
    core = Tokenizer(models.BPE(vocab, merges, ignore_merges=rules.whole_words))
    if rules.composed:
        core.normalizer = normalizers.NFC()
    core.pre_tokenizer = rules.split()
    core.decoder = decoders.ByteLevel()
    for token, kind in zip(tokens, kinds, strict=True):
        if kind in (CONTROL, USER_DEFINED):
            core.add_tokens([AddedToken(token, special=kind == CONTROL, normalized=False)])
    core.post_processor = processors.ByteLevel(trim_offsets=False)
    named = _named(meta)
    if meta.get(PREFIX + "add_bos_token", rules.opening) and "bos_token" in named:
        bos = named["bos_token"]
        core.post_processor = processors.TemplateProcessing(
            single=f"{bos} $A", pair=f"{bos} $A {bos} $B", special_tokens=[(bos, vocab[bos])]
        )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, clean_up_tokenization_spaces=False, **named)
    tokenizer.chat_template = meta.get("tokenizer.chat_template")
    return tokenizer


def _rules(file: GgufFile) -> Rules:
    name = file.metadata.get(PREFIX + "pre", "")
    if name in RULES:
        return RULES[str(name)]
    said = f"the pre-tokenizer {name!r}, whose rules are not known here" if name else "no pre-tokenizer"
    raise FamilyError(
        f"{file.path.name} names {said}, so its text could be cut into wrong tokens. Use the model's folder or its "
        f"Hub ID instead, or a GGUF file with one of: {', '.join(RULES)}."
    )


def _named(meta: Mapping[str, Any]) -> dict[str, str]:
    """The tokens with a role, under transformers' names of the roles."""
    roles = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}
    ids = {role: meta.get(f"{PREFIX}{key}_token_id") for role, key in roles.items()}
    return {role: meta[PREFIX + "tokens"][id] for role, id in ids.items() if id is not None}


def _sentencepiece(file: GgufFile) -> Any:
    """transformers' own conversion, which always puts a space before the first word."""
    from transformers import AutoTokenizer

    if not file.metadata.get(PREFIX + "add_space_prefix", True):
        raise FamilyError(
            f"{file.path.name} has a SentencePiece tokenizer without a space before the first word, which is not "
            "supported. Use the model's folder or its Hub ID instead."
        )
    return AutoTokenizer.from_pretrained(
        file.path.parent, gguf_file=file.path.name, local_files_only=True, trust_remote_code=False
    )
