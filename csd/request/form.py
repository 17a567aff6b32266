"""From the fields of a form to a request. Every refusal is a sentence for the visitor."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from csd.decoding.errors import read_number
from csd.decoding.k_matrix import Matrix, check_K, format_K, parse_K
from csd.decoding.methods import METHODS, Knobs, Refusal, find_method
from csd.models.memory import LANES
from csd.ranges import (
    LENIENCE,
    LOOKUP_K,
    MAX_NEW,
    SEED,
    SPECULATIVE_K,
    TEMPERATURE,
    TOP_K,
    TOP_P,
    Range,
    quote,
)
from csd.request.request import Request

if TYPE_CHECKING:
    from csd.request.defaults import Defaults


@dataclass(frozen=True)
class Form:
    """The fields as the page, a link, the API or the command line provide them.

    `lanes` are names of methods. `draft` and `k` belong to speculative decoding, `lookup` to prompt lookup, `K` (text
    or nested lists) and `lenience` to the cascades; `always` ignores the end-of-text token. A number may be None: a
    cleared field.
    """

    prompt: str = ""
    lanes: Sequence[str] = ()
    draft: str = ""
    k: float | None = None
    lookup: float | None = None
    K: str | Sequence[Sequence[int]] = ""
    lenience: float | None = 1.0
    temperature: float | None = 0.0
    top_k: float | None = 0
    top_p: float | None = 1.0
    seed: float | None = 0
    rule: str = "coupled"
    max_new: float | None = 128
    always: bool = False


def to_request(form: Form, defaults: Defaults, least: int = 2, most: int = LANES) -> Request:
    """The request that a form makes, with `least` to `most` lanes.

    Raises Refusal for fields that cannot be read, and for a wrong K even where no lane uses it. Values that can be read
    but not run are refused by `csd.run`.
    """
    lanes = _names(form.lanes)
    if not least <= len(lanes) <= most:
        count = f"{len(lanes)} {'method is' if len(lanes) == 1 else 'methods are'} chosen"
        raise Refusal(f"{count}. Choose {least} to {most}.")
    methods = [find_method(lane) for lane in lanes]
    K = check_K(_matrix(form.K), len(defaults.drafts)) if form.K else defaults.preset.K
    used = frozenset(name for method in methods for name in method.uses)
    knobs = Knobs(
        drafts=defaults.drafts,
        draft=form.draft or defaults.preset.draft,
        k=_number(form.k, SPECULATIVE_K, "k" in used, 0),
        lookup=_number(form.lookup, LOOKUP_K, "lookup" in used, 0),
        K=K,
        lenience=_number(form.lenience, LENIENCE, "lenience" in used, 1.0),
        prior=defaults.prior,
    )
    return Request(
        prompt=_text(form.prompt),
        methods=tuple(method.from_knobs(knobs) for method in methods),
        max_new=_number(form.max_new, MAX_NEW),
        temperature=_number(form.temperature, TEMPERATURE),
        top_k=_number(form.top_k, TOP_K),
        top_p=_number(form.top_p, TOP_P),
        seed=_number(form.seed, SEED),
        rule=form.rule,
        stop_at_eos=not _yes(form.always),
    )


def check_lanes(lanes: Sequence[str], defaults: Defaults) -> None:
    """Raise ValueError with a sentence for lanes that a family with these defaults cannot race."""
    for method in to_request(defaults.form(lanes=lanes), defaults).methods:
        method.check(defaults.drafts)


def to_fields(request: Request) -> dict[str, Any]:
    """The fields of a form that makes this request, by name, without the settings that none of its methods uses.

    Raises Refusal where two lanes differ in a setting, because a form has only one field for it.
    """
    settings: dict[str, Any] = {}
    for method in request.methods:
        for name, value in method.to_knobs().items():
            if settings.setdefault(name, value) != value:
                raise Refusal(f"Two lanes were run with different values of {name}; the form has one field for both.")
    if "K" in settings:
        settings["K"] = format_K(settings["K"])
    return {
        "prompt": request.prompt,
        "lanes": [method.name for method in request.methods],
        **settings,
        "temperature": request.temperature,
        "top_k": request.top_k,
        "top_p": request.top_p,
        "seed": request.seed,
        "rule": request.rule,
        "max_new": request.max_new,
        "always": not request.stop_at_eos,
    }


def in_order(lanes: Sequence[str]) -> list[str]:
    """Names of methods in the order of the registry."""
    order = list(METHODS)
    return sorted(lanes, key=order.index)


def _names(lanes: Any) -> tuple[str, ...]:
    if not isinstance(lanes, (list, tuple)):
        raise Refusal(f"The methods must be a list of names, such as {list(METHODS)[:2]}, not {quote(lanes)}.")
    return tuple(lanes)


def _matrix(K: Any) -> Matrix:
    try:
        return parse_K(K if isinstance(K, str) else json.dumps(K))
    except (TypeError, ValueError, RecursionError) as error:
        if isinstance(error, Refusal):
            raise
        raise Refusal(f"K must be text or lists of whole numbers, not {quote(K)}.") from error


def _number(value: Any, allowed: Range, is_used: bool = True, unused: float = 0) -> Any:
    """The number in a field. A field that no lane uses may be empty, which is `unused`."""
    if not is_used and value in (None, ""):
        return unused
    number = read_number(allowed, value)
    return number if allowed.whole else float(number)


def _text(prompt: Any) -> str:
    if prompt is not None and not isinstance(prompt, str):
        raise Refusal(f"The prompt must be text, not {quote(prompt)}.")
    return prompt or ""


def _yes(value: Any) -> bool:
    if value is not None and not isinstance(value, bool):
        raise Refusal(f"Whether to ignore the end of text must be true or false, not {quote(value)}.")
    return bool(value)
