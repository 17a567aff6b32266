"""What a race is asked to do. Importable without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from csd.decoding.methods import Method, Refusal, restore_method
from csd.record.trace import Header, Trace
from csd.record.untrusted import LARGEST_INT

RULES = ("coupled", "rejection")
COLDEST = 0.001  # above 0: logits divided by less may leave float32


@dataclass(frozen=True)
class Request:
    """The prompt, the methods that decode it (one lane each), and how tokens are chosen.

    Decoding is greedy where `temperature` is 0; above 0 tokens are sampled under `rule`. `top_k` 0 and `top_p` 1 switch
    these filters off.
    """

    prompt: str
    methods: tuple[Method, ...]
    max_new: int = 128
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    rule: str = "coupled"
    stop_at_eos: bool = True

    @staticmethod
    def from_traces(traces: Sequence[Trace]) -> Request:
        """The request that a race was run with, read from its traces; a family with the same models can run it again.

        Raises Refusal for traces of a method that is not known, or of lanes that did not run together.
        """
        headers = [trace.header for trace in traces]
        shared = {_without_method(header) for header in headers}
        if len(shared) != 1:
            raise Refusal("These traces are not one race: their prompts or settings differ.")
        (request,) = shared
        return replace(request, methods=tuple(restore_method(header.method, header.settings) for header in headers))


def _without_method(header: Header) -> Request:
    return Request(
        prompt=header.text,
        methods=(),
        max_new=header.max_new,
        temperature=header.temperature,
        top_k=header.top_k,
        top_p=header.top_p,
        seed=header.seed,
        rule=header.rule if header.temperature > 0 else Request.rule,
        stop_at_eos=bool(header.eos),
    )


def check_sampling(request: Request) -> None:
    """Raise Refusal for a temperature, filter, seed or rule that no model can use."""
    if not (is_number(request.temperature, 0, 0) or is_number(request.temperature, COLDEST, 10)):
        raise Refusal(f"Temperature must be 0 (greedy) or a number from {COLDEST} to 10, not {request.temperature!r}.")
    if not is_number(request.top_p, 0, 1) or request.top_p == 0:
        raise Refusal(f"Top-p must be a number above 0 and at most 1, not {request.top_p!r}; 1 switches it off.")
    if not is_whole(request.top_k, 0, LARGEST_INT):
        raise Refusal(f"Top-k must be a whole number of at least 0, not {request.top_k!r}; 0 switches it off.")
    if not is_whole(request.seed, 0, LARGEST_INT):
        raise Refusal(f"The seed must be a whole number of at least 0, not {request.seed!r}.")
    if request.rule not in RULES:
        raise Refusal(f"The acceptance rule must be one of {', '.join(RULES)}, not {request.rule!r}.")


def is_number(value: object, low: float, high: float) -> bool:
    """Whether a value is a number from `low` to `high`; True and False are not numbers here."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high


def is_whole(value: object, low: float, high: float) -> bool:
    """The same for whole numbers, which must be ints."""
    return isinstance(value, int) and is_number(value, low, high)
