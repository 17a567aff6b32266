"""The bigram table of a family: the target's most likely next token after each token alone, one int per token.

Max-Gram ends in it where no match is found. The paper counts its table on Wikipedia; this one is asked of the target.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from csd.models.catalog import ModelSpec
from csd.paths import ROOT

if TYPE_CHECKING:
    from csd.models.family import Family


def build(model: Any, vocab: int, batch: int = 512, before: Sequence[int] = ()) -> tuple[int, ...]:
    """One entry per id below `vocab`; `before` are the ids that open every text (BOS), if there are any."""
    return tuple(followers(model, range(vocab), vocab, batch, before))


def followers(model: Any, ids: Sequence[int], vocab: int, batch: int = 512, before: Sequence[int] = ()) -> list[int]:
    """What follows each of `ids`, the first of equals."""
    import torch

    found: list[int] = []
    for start in range(0, len(ids), batch):
        rows = torch.tensor([[*before, id] for id in ids[start : start + batch]], device=model.device)
        with torch.inference_mode():
            logits = model(input_ids=rows, use_cache=False, logits_to_keep=1).logits
        found += logits[:, -1, :vocab].argmax(-1).tolist()
    return found


def write(family: Family, path: str | Path | None = None) -> Path:
    """Builds the table of an open family and writes it to `path`, else to where families look for it; returns the place."""
    ready = ROOT / family.spec.bigram if family.spec.bigram else None
    place = Path(path) if path else ready or cached(family.spec.target, family.commit, family.vocab)
    save(build(family.models["target"], family.vocab, before=family.opening), place)
    return place


def save(table: Sequence[int], path: Path) -> None:
    """Written aside and moved, so that a reader never meets half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(json.dumps(list(table), separators=(",", ":")) + "\n")
    aside.replace(path)


def read(path: Path, vocab: int) -> tuple[int, ...] | None:
    """The table in a file; None where there is none, or none that fits the vocabulary."""
    try:
        table = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    fits = isinstance(table, list) and len(table) == vocab
    return tuple(table) if fits and all(isinstance(id, int) and 0 <= id < vocab for id in table) else None


def cached(target: ModelSpec, commit: str, vocab: int) -> Path:
    """Where a target's table is kept: under CSD_HOME, else in the user's cache folder; keyed by id, commit and vocabulary."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = Path(os.environ.get("CSD_HOME") or Path(base) / "csd")
    key = hashlib.sha256(json.dumps([target.id, commit, vocab]).encode()).hexdigest()[:16]
    return home / "bigram" / f"{key}.json"
