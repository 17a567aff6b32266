"""What was chosen for a family on a device: a record in a file, read without torch. `csd.tuning.search` makes it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from csd.decoding.adaptive import ANY, Prior
from csd.decoding.methods import Matrix, checked_K
from csd.models.catalog import FamilySpec
from csd.paths import ROOT

SHIPPED = ROOT / "assets" / "family" / "tuned.json"  # the embedded family on two CPU cores


@dataclass(frozen=True)
class Tuned:
    """`draft` and `k` of speculative decoding, `lookup` tokens of prompt lookup, K and lenience of the cascade, the prior of
    the adaptive one.

    K has a row for every draft of the family, of zeros for one that is not used. `alpha` holds for each draft the chance that
    the target accepts its token at position 1, 2, ... of a block, given those before; `speedups` the measured speed of each
    method over autoregressive decoding, geometric means over `prompts` prompts.
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
        """Raises ValueError where the text is no such record."""
        try:
            data = json.loads(text)
            prior = Prior(**{name: _tuples(value) for name, value in data["prior"].items()})
            K = checked_K(_tuples(data["K"]), len(data["K"]) - 1)
            found = Tuned(**{**data, "K": K, "prior": prior, "alpha": _tuples(data["alpha"])})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"This is no record of tuning: {error!r}.") from error
        if any(len(rates) != ANY + 1 for rates in (prior.unknown, *prior.drafts.values())):
            raise ValueError("This is no record of tuning: a draft's prior has another number of kinds.")
        return found


def find(spec: FamilySpec, device: str = "auto") -> Tuned | None:
    """The record for a family on a device, this machine's own first; None where it was never tuned."""
    kinds = ("cuda", "cpu") if device == "auto" else (device.split(":")[0],)
    places = [place(spec, kind) for kind in kinds]
    for path in (*places, *([SHIPPED] if spec.name == "embedded" else [])):
        try:
            tuned = Tuned.from_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if len(tuned.K) == len(spec.drafts) + 1 and tuned.draft in ("", *spec.draft_names):
            return tuned
    return None


def place(spec: FamilySpec, kind: str) -> Path:
    """Where this machine keeps the record: under CSD_HOME, else in the user's cache folder; by models and kind of device."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = Path(os.environ.get("CSD_HOME") or Path(base) / "csd")
    key = hashlib.sha256(json.dumps([[model.name, model.id, model.revision] for model in spec.models]).encode())
    return home / "tuned" / f"{key.hexdigest()[:16]}-{kind}.json"


def save(tuned: Tuned, path: Path) -> None:
    """Written aside and moved, so that a reader never meets half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(tuned.to_json(), encoding="utf-8")
    aside.replace(path)


def _tuples(value):
    """Lists as tuples, at every depth."""
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    return {key: _tuples(inner) for key, inner in value.items()} if isinstance(value, dict) else value
