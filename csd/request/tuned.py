"""Tuning records: what `csd.tuning` chose for a family on a device. JSON files, read without torch."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from csd.decoding.adaptive.prior import Prior, check_prior
from csd.decoding.errors import Refusal
from csd.decoding.k_matrix import Matrix, check_K
from csd.models import checksums
from csd.models.placement import SPLIT
from csd.models.spec import FamilySpec
from csd.paths import ROOT, cache_folder, called, write_whole
from csd.ranges import ENTRY, LENIENCE, LONGEST_DRAFT, LOOKUP_K

log = logging.getLogger(__name__)

MENDED = "Delete it, or write a new one with `python -m csd tune`."


@dataclass(frozen=True)
class Tuned:
    """`draft` and `k` of speculative decoding, `lookup` tokens of prompt lookup, K and lenience of the cascade, and the
    prior of the adaptive cascade.

    K has a row for every draft of the family, of zeros for one that is not used. `alpha` holds for each draft the
    probability that the target accepts its token at position 1, 2, ... of a block, given those before it; `speedups`
    the measured speed of each method over autoregressive decoding, as geometric means over `prompts` prompts.
    """

    family: str
    device: str
    dtype: str
    machine: str
    date: str
    prompts: int
    draft: str
    k: int
    lookup: int
    K: Matrix
    lenience: float
    prior: Prior
    alpha: Mapping[str, tuple[float, ...]]
    speedups: Mapping[str, float]

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> Tuned:
        """Raises ValueError where the text is not such a record."""
        try:
            found = TypeAdapter(Tuned).validate_json(text)
            check_K(found.K, max(0, len(found.K) - 1))
            check_prior(found.prior)
        except (ValidationError, Refusal) as error:
            raise ValueError(f"This is not a tuning record: {error}") from error
        if found.k not in ENTRY or found.lookup not in LOOKUP_K or found.lenience not in LENIENCE:
            raise ValueError(
                f"This is not a tuning record: a draft has at most {LONGEST_DRAFT} tokens, lenience is {LENIENCE}."
            )
        return found


def find_tuned(spec: FamilySpec, device: str = "auto", report: Callable[[str], None] = log.warning) -> Tuned | None:
    """The record for a family on a device; this machine's own comes before the shipped one.

    None where the family was not tuned. A file that belongs to other drafts is passed over, and so is a damaged one,
    of which `report` is told.
    """
    kinds = {"auto": ("cuda", "cpu"), SPLIT: ("cuda",)}.get(device, (str(device).split(":")[0],))
    paths = [tuned_path(spec, kind) for kind in kinds]
    for path in (*paths, *([ROOT / spec.tuned] if spec.tuned else [])):
        try:
            tuned = _read(path)
        except (OSError, ValueError):
            report(f"The tuning record {called(path)} is damaged and not used. {MENDED}")
            continue
        if tuned and len(tuned.K) == len(spec.drafts) + 1 and tuned.draft in ("", *spec.draft_names):
            return tuned
    return None


def _read(path: Path) -> Tuned | None:
    """None where there is no file. Raises OSError and ValueError for a damaged one."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    if checksums.find_damage(path):
        raise ValueError("This is not the record that was shipped.")
    return Tuned.from_json(text)


def tuned_path(spec: FamilySpec, kind: str) -> Path:
    """Where this machine stores the record of these models on a kind of device ("cpu" or "cuda")."""
    key = hashlib.sha256(json.dumps([[model.name, model.id, model.revision] for model in spec.models]).encode())
    return cache_folder() / "tuned" / f"{key.hexdigest()[:16]}-{kind}.json"


def save_tuned(tuned: Tuned, path: Path) -> None:
    write_whole(path, tuned.to_json())
