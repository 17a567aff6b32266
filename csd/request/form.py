"""From the fields of a form to a request. Every refusal is a sentence for the visitor."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
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
from csd.request.field_reader import FieldReader
from csd.request.request import Request

if TYPE_CHECKING:
    from csd.request.defaults import Defaults

LEAST_LANES = 2  # of a race of the page


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


def to_request(
    form: Form, defaults: Defaults, least: int = LEAST_LANES, most: int = LANES, strict: bool = True
) -> Request:
    """The request that a form makes, with `least` to `most` lanes.

    Raises Refusal for the first field that cannot be read, in the order of the page, and says how many more there are.
    Unless `strict`, the default takes the place of a wrong value that no lane uses; an empty one may stay in any case.
    Values that can be read but not run are refused by `csd.run`.
    """
    form = replace(form, lanes=_names(form.lanes))
    methods = [find_method(lane) for lane in form.lanes]
    fields = FieldReader(form, strict)
    prompt = fields.read("prompt", _text, "")
    max_new = MAX_NEW.read(form.max_new)
    fields.read("max_new", _in(MAX_NEW.up_to(defaults.context - 1)), None)
    fields.read("lanes", lambda lanes: _check_count(len(lanes), least, most), None)
    temperature = fields.read("temperature", _in(TEMPERATURE), 0.0)
    seed = fields.read("seed", _in(SEED), 0, temperature > 0)
    used = frozenset(name for method in methods for name in method.uses)
    knobs = Knobs(
        drafts=defaults.drafts,
        draft=form.draft or defaults.preset.draft,
        k=fields.read("k", _in(SPECULATIVE_K), 0, "k" in used),
        lookup=fields.read("lookup", _in(LOOKUP_K), 0, "lookup" in used),
        K=fields.read("K", lambda K: _plan(K, defaults), defaults.preset.K, "K" in used),
        lenience=fields.read("lenience", _in(LENIENCE), 1.0, "lenience" in used),
        prior=defaults.prior,
    )
    request = Request(
        prompt=prompt,
        methods=tuple(method.from_knobs(knobs) for method in methods),
        max_new=max_new,
        temperature=temperature,
        seed=seed,
        stop_at_eos=not fields.read("always", _yes, False),
        top_k=fields.read("top_k", _in(TOP_K), 0, temperature > 0),
        top_p=fields.read("top_p", _in(TOP_P), 1.0, temperature > 0),
        rule=form.rule,
    )
    if max_new in MAX_NEW and [refusal.field for refusal in fields.refusals] == ["max_new"]:
        return request  # csd.run says how many tokens the prompt leaves
    fields.check()
    return request


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


def in_order(lanes: Iterable[str]) -> list[str]:
    """Names of methods in the order of the registry."""
    order = list(METHODS)
    return sorted(lanes, key=order.index)


def _names(lanes: Any) -> tuple[str, ...]:
    if not isinstance(lanes, (list, tuple)):
        raise Refusal(f"The methods must be a list of names, such as {list(METHODS)[:2]}, not {quote(lanes)}.")
    return tuple(lanes)


def _check_count(lanes: int, least: int, most: int) -> None:
    if not least <= lanes <= most:
        count = f"{lanes} {'method is' if lanes == 1 else 'methods are'} chosen"
        raise Refusal(f"{count}. Choose {least} to {most}.")


def _plan(K: Any, defaults: Defaults) -> Matrix:
    """K, or where the field is empty that of the default preset."""
    return check_K(_matrix(K), len(defaults.drafts)) if K else defaults.preset.K


def _matrix(K: Any) -> Matrix:
    try:
        return parse_K(K if isinstance(K, str) else json.dumps(K))
    except (TypeError, ValueError, RecursionError) as error:
        if isinstance(error, Refusal):
            raise
        raise Refusal(f"K must be text or lists of whole numbers, not {quote(K)}.") from error


def _in(allowed: Range) -> Callable[[Any], Any]:
    """Reads a number of this range, and raises Refusal for any other value."""
    return lambda value: read_number(allowed, value) if allowed.whole else float(read_number(allowed, value))


def _text(prompt: Any) -> str:
    if prompt is not None and not isinstance(prompt, str):
        raise Refusal(f"The prompt must be text, not {quote(prompt)}.")
    return prompt or ""


def _yes(value: Any) -> bool:
    if value is not None and not isinstance(value, bool):
        raise Refusal(f"Whether to ignore the end of text must be true or false, not {quote(value)}.")
    return bool(value)
