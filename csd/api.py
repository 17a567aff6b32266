"""The public functions: load a family of models, generate with one method, race several.

Importable without torch; models are imported when a family is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from csd.decoding.methods import Method
from csd.models.catalog import find
from csd.models.messages import Progress, ignore
from csd.models.spec import FamilySpec, custom
from csd.record.race import Race
from csd.record.trace import Trace
from csd.request.defaults import defaults_for
from csd.request.form import to_request
from csd.request.request import Request
from csd.run import finished_traces, run_race

if TYPE_CHECKING:
    from csd.models.family import Family


def load(
    family: str | FamilySpec = "embedded",
    *,
    target: str = "",
    drafts: Sequence[str] = (),
    device: str = "auto",
    dtype: str = "auto",
    progress: Progress = ignore,
) -> Family:
    """Load a ready-made family by name, or models of your own: `target` and `drafts`, strongest first.

    Models are Hub ids, folders or GGUF files. `device`: "auto", "cpu", "cuda", "cuda:N", or "split" for a target over
    all GPUs; `dtype`: "auto", "float32", "bfloat16", "float16" or "float64". `progress` is called with sentences.
    Raises FamilyError with a sentence.
    """
    from csd.models.loading import load_family

    named = find(family) if isinstance(family, str) else family
    spec = custom(target, drafts) if target else named
    return load_family(spec, device, dtype, progress)


def generate(
    family: Family,
    prompt: str,
    method: Method,
    *,
    max_new: int = 128,
    temperature: float = 0.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 0,
    rule: str = "coupled",
    stop_at_eos: bool = True,
) -> Trace:
    """Continue a prompt with one method. The text is `trace.answer`, its ids are `trace.tokens`.

    Temperature 0 is greedy; above it, `rule` is "coupled" or "rejection". Raises Refusal with a sentence.
    """
    request = Request(prompt, (method,), max_new, temperature, top_k, top_p, seed, rule, stop_at_eos)
    (trace,) = finished_traces(run_race(family, request))
    return trace


def race(
    family: Family,
    prompt: str,
    methods: Sequence[Method] = (),
    *,
    max_new: int = 128,
    temperature: float = 0.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 0,
    rule: str = "coupled",
    stop_at_eos: bool = True,
) -> Race:
    """Run several methods on one prompt, interleaved on one device, each on its own clock.

    Without `methods`, the family's default lanes race. Raises Refusal with a sentence.
    """
    if not methods:
        defaults = defaults_for(family.spec, family.device)
        methods = to_request(defaults.form(), defaults).methods
    request = Request(prompt, tuple(methods), max_new, temperature, top_k, top_p, seed, rule, stop_at_eos)
    return Race(finished_traces(run_race(family, request)))
