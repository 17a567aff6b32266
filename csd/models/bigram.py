"""The bigram table: for each token, the target's most likely next token after that token alone.

Max-Gram falls back to it where it finds no match. The paper counts its table on Wikipedia; this one is computed with
the target itself, each token standing after `Family.opening`. What stands there matters: a chat model without BOS takes
a lone first token for the start of a text, and SmolLM2 then answers the same to nearly every token (docs/methods.md).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from csd.models.spec import FamilySpec
from csd.paths import ROOT, cache_folder, write_whole


def build(model: Any, vocab: int, batch: int = 512, opening: Sequence[int] = ()) -> tuple[int, ...]:
    """One entry for each id below `vocab`; `opening` are the ids in front of it, if there are any."""
    return tuple(followers(model, range(vocab), vocab, batch, opening))


def followers(model: Any, ids: Sequence[int], vocab: int, batch: int = 512, opening: Sequence[int] = ()) -> list[int]:
    """The most likely next token after each of `ids`; among equals the first."""
    import torch

    found: list[int] = []
    for start in range(0, len(ids), batch):
        rows = torch.tensor(ids[start : start + batch], device=model.device)[:, None]
        with torch.inference_mode():
            logits = model(**_after(model, opening, rows), logits_to_keep=1).logits
        found += logits[:, -1, :vocab].argmax(-1).tolist()
    return found


def _after(model: Any, opening: Sequence[int], rows: Any) -> dict[str, Any]:
    """The arguments of a forward pass over rows that all begin with `opening`, which is read once."""
    import torch

    if model.config.is_encoder_decoder:  # the last id of the opening is the decoder's first
        prompt, decoder = (rows.new_tensor([ids] * len(rows)) for ids in (list(opening[:-1]), list(opening[-1:])))
        return {"input_ids": prompt, "decoder_input_ids": torch.cat([decoder, rows], 1), "use_cache": False}
    if not opening:
        return {"input_ids": rows, "use_cache": False}
    cache = model(input_ids=rows.new_tensor([list(opening)]), use_cache=True).past_key_values
    cache.batch_repeat_interleave(len(rows))
    return {"input_ids": rows, "past_key_values": cache}


def write(model: Any, vocab: int, opening: Sequence[int], path: Path) -> None:
    """Build the table of a target and save it. Raises OSError."""
    save(build(model, vocab, opening=opening), path)


def save(table: Sequence[int], path: Path) -> None:
    """Write a table as JSON. Raises OSError."""
    write_whole(path, json.dumps(list(table), separators=(",", ":")) + "\n")


def read(path: Path, vocab: int) -> tuple[int, ...] | None:
    """The table in a file; None if there is no such file or its table does not match the vocabulary."""
    try:
        table = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    valid = isinstance(table, list) and len(table) == vocab
    return tuple(table) if valid and all(isinstance(id, int) and 0 <= id < vocab for id in table) else None


def table_path(spec: FamilySpec, commit: str, vocab: int) -> Path:
    """Where the table of a family is stored: in the project if it is part of the family, otherwise in the user's cache.

    The cache is keyed by the target's ID, commit and vocabulary.
    """
    if spec.bigram:
        return ROOT / spec.bigram
    key = hashlib.sha256(json.dumps([spec.target.id, commit, vocab]).encode()).hexdigest()[:16]
    return cache_folder() / "bigram" / f"{key}.json"
