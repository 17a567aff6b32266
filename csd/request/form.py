"""From what stands in the page's fields to the settings of a race. Pure; every refusal is a sentence for the visitor."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from csd.decoding import methods
from csd.decoding.adaptive import GENERAL, Prior
from csd.decoding.methods import Matrix, Method, Refusal
from csd.request.tuned import Tuned
from csd.run import Settings

LANES = {
    "autoregressive": "autoregressive",
    "speculative": "speculative",
    "prompt lookup": "prompt lookup",
    "cascade": "cascade",
    "cascade, adaptive": "adaptive",
    "cascade, vertical only": "vertical",
    "cascade, horizontal only": "horizontal",
}  # what the page calls a lane: the method's name
DEFAULT_LANES = ("autoregressive", "speculative", "cascade")
ADAPTIVE_LANES = ("autoregressive", "speculative", "cascade, adaptive")


@dataclass(frozen=True)
class Preset:
    """Tokens per draft of the speculative lane, its draft, the cascade's K (cumulative, strongest draft first), and lanes."""

    name: str
    draft: str
    k: int
    K: Matrix
    lenience: float = 1.0
    lanes: tuple[str, ...] = DEFAULT_LANES


@dataclass(frozen=True)
class Form:
    """The fields as the page holds them: numbers may be None (cleared), K is text or nested lists."""

    prompt: str = ""
    lanes: Sequence[str] = DEFAULT_LANES
    draft: str = ""
    k: float | None = 4
    lookup: float | None = 8
    K: str | Sequence[Sequence[int]] = ""
    lenience: float | None = 1.0
    temperature: float | None = 0.0
    top_k: float | None = 0
    top_p: float | None = 1.0
    seed: float | None = 0
    rule: str = "coupled"
    max_new: float | None = 128
    always: bool = False


def presets(drafts: Sequence[str], tuned: Tuned | None = None) -> tuple[Preset, ...]:
    """Ready combinations for a family with these drafts, strongest first; the first one is the default.

    The adaptive cascade comes first, then the one by K: as tuned, else with short drafts.
    """
    first = drafts[0] if drafts else ""
    if tuned is not None:
        chosen = Preset("tuned K", tuned.draft or first, tuned.k or 4, tuned.K, tuned.lenience)
    else:
        chosen = Preset("short drafts", first, 4, methods.example_K(len(drafts)))
    papers = {1: ((5, 15), (0, 10)), 2: ((5, 19, 29), (0, 1, 11), (0, 0, 10))}.get(len(drafts))
    return (
        replace(chosen, name="adaptive", lenience=1.0, lanes=ADAPTIVE_LANES),
        chosen,
        *([Preset("paper's K", first, 5, papers)] if papers else []),
    )


def settings(form: Form, drafts: Sequence[str], least: int = 2, prior: Prior = GENERAL) -> Settings:
    """`prior` is what the adaptive cascade expects of the family.

    Raises Refusal for what cannot be read, K also where no lane uses it; what csd.run.race refuses by itself is left to it.
    """
    lanes = tuple(form.lanes)
    if not least <= len(lanes) <= 4:
        raise Refusal(f"{len(lanes)} {'method is' if len(lanes) == 1 else 'methods are'} chosen. Choose {least} to 4.")
    unknown = [lane for lane in lanes if lane not in LANES and lane not in LANES.values()]
    if unknown:
        raise Refusal(f"There is no method called {unknown[0]!r}. Choose among: {', '.join(LANES)}.")
    if form.K:
        methods.checked_K(matrix(form.K), len(drafts))
    return Settings(
        prompt=form.prompt or "",
        methods=tuple(_method(LANES.get(lane, lane), form, drafts, prior) for lane in lanes),
        max_new=_whole(form.max_new, "New tokens"),
        temperature=_number(form.temperature, "Temperature"),
        top_k=_whole(form.top_k, "Top-k"),
        top_p=_number(form.top_p, "Top-p"),
        seed=_whole(form.seed, "The seed"),
        rule=form.rule,
        stop_at_eos=not form.always,
    )


def _method(name: str, form: Form, drafts: Sequence[str], prior: Prior) -> Method:
    if name == "autoregressive":
        return methods.autoregressive()
    if name == "prompt lookup":
        return methods.prompt_lookup(_whole(form.lookup, "Prompt lookup k"))
    if name == "speculative":
        return methods.speculative(form.draft or (drafts[0] if drafts else ""), _whole(form.k, "Speculative k"))
    lenience, names = _number(form.lenience, "Lenience"), tuple(drafts)
    if name == "adaptive":
        return methods.adapting(names, prior, lenience)
    K = methods.checked_K(matrix(form.K), len(drafts))
    if name == "vertical":
        return methods.vertical(names, tuple(row[i] for i, row in enumerate(K)), lenience)
    if name == "horizontal":
        return methods.horizontal(names, K[0])
    return methods.cs_drafting(names, K, lenience)


def matrix(K: str | Sequence[Sequence[int]]) -> Matrix:
    """K from its text or from nested lists; its shape and order are checked apart."""
    return methods.parsed_K(K if isinstance(K, str) else json.dumps(K))


def matrix_text(K: Sequence[Sequence[int]]) -> str:
    return json.dumps([list(row) for row in K], separators=(",", ":"))


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Refusal(f"{name} is empty or no number. Write a number there.")
    return float(value)


def _whole(value: Any, name: str) -> int:
    number = _number(value, name)
    if number != int(number):
        raise Refusal(f"{name} is {number:g}. It must be a whole number.")
    return int(number)
