"""The tokenizer of a family: one vocabulary for all models, chat turns, end-of-text ids, and the text of tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from csd.models.checksums import check_shipped
from csd.models.damage import tokenizer_fault
from csd.models.files import ModelFiles
from csd.models.gguf_tokenizer import gguf_tokenizer
from csd.models.spec import FamilyError, FamilySpec
from csd.paths import local_path

# Splits differently wherever two tokenizers disagree about spaces, digits, punctuation or characters outside ASCII.
SAMPLE = "The quick brown fox paid 3.14 coins.\n    def jump(x): return 'über' + x  # \u00e9\u20ac\U0001f600"
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")

TokenText = str | tuple[int, ...]
"""The text of a token, or its bytes if they are only a part of a character."""


def load_tokenizer(spec: FamilySpec, files: Sequence[ModelFiles]) -> tuple[Any, tuple[str, ...]]:
    """The target's tokenizer, compared with those of the drafts, and notes for the user. Raises FamilyError.

    `files` are those of `spec.models`.
    """
    shared = local_path(spec.tokenizer) if spec.tokenizer else None
    if shared:
        check_shipped(shared / name for name in ("tokenizer.json", "tokenizer_config.json"))
        return _read_tokenizer(spec.tokenizer, ModelFiles(shared)), ()
    tokenizer = _read_tokenizer(spec.target.id, files[0])
    notes = []
    for draft, its in zip(spec.drafts, files[1:], strict=True):
        other = _read_tokenizer(draft.id, its)
        if not _same_vocabulary(tokenizer, other):
            raise FamilyError(
                f"{draft.id} and {spec.target.id} have different tokenizers, so one cannot draft for the other. "
                "Choose drafts of the target's own family."
            )
        if _encode(tokenizer, SAMPLE) != _encode(other, SAMPLE):
            notes.append(
                f"{draft.name} splits text differently from the target, so fewer of its tokens may be accepted."
            )
    return tokenizer, tuple(notes)


def _read_tokenizer(id: str, files: ModelFiles) -> Any:
    from transformers import AutoTokenizer

    if files.gguf:
        return gguf_tokenizer(files.gguf)
    try:
        tokenizer = AutoTokenizer.from_pretrained(**files.source)
    except Exception as error:  # missing and damaged files fail in many ways
        raise FamilyError(tokenizer_fault(id, error)) from error
    if not _encode(tokenizer, SAMPLE):  # what transformers makes of some folders without tokenizer files
        raise FamilyError(f"The tokenizer of {id} is empty: its files, such as tokenizer.json, are missing.")
    return tokenizer


def _encode(tokenizer: Any, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def _same_vocabulary(one: Any, other: Any) -> bool:
    """Whether ordinary tokens have equal ids, and also those added tokens that both tokenizers have."""
    first, second = one.get_vocab(), other.get_vocab()
    added = one.get_added_vocab().keys() | other.get_added_vocab().keys()
    ordinary = all(second.get(token) == id for token, id in first.items() if token not in added)
    ordinary = ordinary and all(token in first for token in second if token not in added)
    return ordinary and all(first[token] == second[token] for token in added if token in first and token in second)


def shared_vocab_size(spec: FamilySpec, configs: Sequence[Any], tokenizer: Any) -> int:
    """The smallest vocabulary among the models; models of one family may pad theirs differently. Raises FamilyError.

    For encoder-decoders it is the tokenizer's: nobody could spell the ids that pad T5's, which a draft may propose.
    """
    needed = max(tokenizer.get_vocab().values()) + 1
    for model, config in zip(spec.models, configs, strict=True):
        if config.vocab_size < needed:
            raise FamilyError(
                f"{model.id} has a vocabulary of {config.vocab_size:,} tokens, but the tokenizer has {needed:,}. "
                "Choose models of one family, which share a tokenizer."
            )
    if configs[0].is_encoder_decoder:
        return needed
    return min(config.vocab_size for config in configs)


def uses_chat(spec: FamilySpec, tokenizer: Any) -> bool:
    """Whether prompts become a user's turn. Raises FamilyError if they should and there is no template for it."""
    template = bool(getattr(tokenizer, "chat_template", None))
    if spec.chat and not (template or spec.turn):
        raise FamilyError(f"{spec.target.id} has no chat template. Load it as a base model, with plain prompts.")
    return template if spec.chat is None else spec.chat


def eos_ids(target: Any, tokenizer: Any, vocab: int) -> frozenset[int]:
    """The ids that end a text: those of the generation config, and the tokenizer's own."""
    ends = getattr(target.generation_config, "eos_token_id", None)
    listed = ends if isinstance(ends, (list, tuple)) else [ends]
    return frozenset(id for id in (*listed, tokenizer.eos_token_id) if id is not None and id < vocab)


def unspelled(tokenizer: Any, text: str) -> str:
    """The characters of a text that become the unknown token, each once; empty where there are none."""
    unknown = getattr(tokenizer, "unk_token_id", None)
    if unknown is None or unknown not in _encode(tokenizer, text):
        return ""
    return "".join(one for one in dict.fromkeys(text) if unknown in _encode(tokenizer, one))


def spelling_notes(spec: FamilySpec, tokenizer: Any) -> tuple[str, ...]:
    """A sentence for the user where the vocabulary has no line break."""
    if _encode(tokenizer, "a\n\nb") != _encode(tokenizer, "a b"):
        return ()
    return (f"The vocabulary of {spec.name} has no line breaks: those of a prompt are read as spaces.",)


@dataclass(frozen=True)
class TokenTexts:
    """The text of each token of a vocabulary, so that a trace can be displayed without a tokenizer.

    `kind` is "bytes" (byte-level BPE), "marks" (SentencePiece: U+2581 for a space, <0xE2> for a byte) or "other", where
    the text is what the tokenizer decodes from the id alone. `added` holds the added and special tokens.
    """

    tokenizer: Any
    kind: str
    added: dict[int, str]

    def text(self, id: int) -> TokenText:
        """The text of one token; an id without a token becomes <id>."""
        if id in self.added:
            return self.added[id]
        token = self.tokenizer.convert_ids_to_tokens(id)
        if token is None:
            return f"<{id}>"
        if self.kind == "bytes":
            alphabet = _byte_alphabet()
            known = all(character in alphabet for character in token)
            return _decode(bytes(alphabet[character] for character in token)) if known else token
        if self.kind == "marks":
            byte = _BYTE.fullmatch(token)
            return _decode(bytes([int(byte[1], 16)])) if byte else token.replace("\u2581", " ")
        return self.tokenizer.decode([id], clean_up_tokenization_spaces=False)

    def texts(self, ids: Iterable[int]) -> dict[int, TokenText]:
        """The texts of several tokens, by id."""
        return {id: self.text(id) for id in set(ids)}


def token_texts(tokenizer: Any) -> TokenTexts:
    """Finds out from a tokenizer's decoder how its tokens are written."""
    added = {id: token.content for id, token in tokenizer.added_tokens_decoder.items()}
    decoder = getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", None)
    steps = _decoder_steps(json.loads(decoder.__getstate__())) if decoder is not None else []
    if "ByteLevel" in steps:
        kind = "bytes"
    elif "ByteFallback" in steps or "Metaspace" in steps or (decoder is None and hasattr(tokenizer, "sp_model")):
        kind = "marks"
    else:
        kind = "other"
    return TokenTexts(tokenizer, kind, added)


def _decoder_steps(decoder: dict[str, Any]) -> list[str]:
    return [decoder["type"], *(name for part in decoder.get("decoders", ()) for name in _decoder_steps(part))]


@cache
def _byte_alphabet() -> dict[str, int]:
    """GPT-2's alphabet: the byte that each of its 256 characters stands for."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    return {character: byte for byte, character in bytes_to_unicode().items()}


def _decode(data: bytes) -> TokenText:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return tuple(data)
