"""The text of single tokens, so that a record can be spelled and marked without a tokenizer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


def _alphabet() -> dict[str, int]:
    """GPT-2's alphabet: printable bytes stand for themselves, the others for the characters from U+0100 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


_BYTE_OF = _alphabet()


@dataclass(frozen=True)
class Speller:
    """What each id of a tokenizer looks like.

    `kind` is "bytes" (byte-level BPE), "marks" (sentencepiece: U+2581 for a space, <0xE2> for a byte) or "other", where a
    piece is what the tokenizer decodes of the id alone. `added` holds the added and special tokens, spelled as they are.
    """

    tokenizer: Any
    kind: str
    added: dict[int, str]

    def piece(self, id: int) -> str | tuple[int, ...]:
        """Text, or the bytes of an id that is only a part of a character; an id without a token is shown as <id>."""
        if id in self.added:
            return self.added[id]
        token = self.tokenizer.convert_ids_to_tokens(id)
        if token is None:
            return f"<{id}>"
        if self.kind == "bytes":
            return _from_alphabet(token)
        if self.kind == "marks":
            byte = _BYTE.fullmatch(token)
            return _text(bytes([int(byte[1], 16)])) if byte else token.replace("\u2581", " ")
        return self.tokenizer.decode([id], clean_up_tokenization_spaces=False)

    def pieces(self, ids: Iterable[int]) -> dict[int, str | tuple[int, ...]]:
        return {id: self.piece(id) for id in set(ids)}


def speller(tokenizer: Any) -> Speller:
    """Reads from the tokenizer's decoder how its tokens are written."""
    added = {id: token.content for id, token in tokenizer.added_tokens_decoder.items()}
    decoder = getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", None)
    stages = _stages(json.loads(decoder.__getstate__())) if decoder is not None else []
    if "ByteLevel" in stages:
        kind = "bytes"
    elif "ByteFallback" in stages or "Metaspace" in stages or (decoder is None and hasattr(tokenizer, "sp_model")):
        kind = "marks"
    else:
        kind = "other"
    return Speller(tokenizer, kind, added)


def _stages(decoder: dict[str, Any]) -> list[str]:
    return [decoder["type"], *(name for part in decoder.get("decoders", ()) for name in _stages(part))]


def _from_alphabet(token: str) -> str | tuple[int, ...]:
    if all(character in _BYTE_OF for character in token):
        return _text(bytes(_BYTE_OF[character] for character in token))
    return token


def _text(data: bytes) -> str | tuple[int, ...]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return tuple(data)
