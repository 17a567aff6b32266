"""The bigram table: for each token, the target's most likely next token after that token alone.

Max-Gram falls back to it where it finds no match. The paper counts its table on Wikipedia; this one is computed with
the target itself, each token standing after `Family.opening`. What stands there matters: a chat model without BOS takes
a lone first token for the start of a text, and SmolLM2 then answers the same to nearly every token (docs/methods.md).
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from csd.models.checksums import find_damage
from csd.models.spec import FamilySpec
from csd.paths import ROOT, cache_folder, called, write_whole

NONE = "Max-Gram runs without its bigram table, which is not built automatically on a CPU; run `python -m csd bigram`."
CHANGED = "The bigram table {} is not the one that was shipped. Only the speed of Max-Gram depends on it."

log = logging.getLogger(__name__)


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
    """The table in a file; None if there is none. Raises ValueError for a file that does not fit the vocabulary."""
    damaged = f"The bigram table {called(path)} is damaged. Write a new one with `python -m csd bigram`."
    try:
        table = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(damaged) from error
    valid = isinstance(table, list) and len(table) == vocab
    if not valid or not all(isinstance(id, int) and 0 <= id < vocab for id in table):
        raise ValueError(damaged)
    return tuple(table)


def find_table(
    path: Path, vocab: int, build: Callable[[], Sequence[int]] | None = None
) -> tuple[Sequence[int] | None, tuple[str, ...]]:
    """The table of a family, and sentences on what is wrong with its file.

    Where there is no file, `build` makes the table, which is stored for the next time; None if there is no `build`.
    """
    try:
        table = read(path, vocab)
    except ValueError as error:
        log.warning(str(error))
        return None, (f"{error} Until then Max-Gram runs without it.",)
    if table is None and build is None:
        return None, (NONE,)
    if table is None and build is not None:
        table = build()
        with suppress(OSError):  # without a writable cache folder the next start takes some seconds longer
            save(table, path)
    elif find_damage(path):
        changed = CHANGED.format(called(path))
        log.warning(changed)
        return table, (changed,)
    return table, ()


def table_path(spec: FamilySpec, commit: str, vocab: int) -> Path:
    """Where the table of a family is stored: in the project if it is part of the family, otherwise in the user's cache.

    The cache is keyed by the target's ID, commit and vocabulary.
    """
    if spec.bigram:
        return ROOT / spec.bigram
    key = hashlib.sha256(json.dumps([spec.target.id, commit, vocab]).encode()).hexdigest()[:16]
    return cache_folder() / "bigram" / f"{key}.json"
