"""What a race is asked to do. Importable without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from csd.decoding.errors import check_number
from csd.decoding.methods import Method, Refusal, restore_method
from csd.ranges import SEED, TEMPERATURE, TOP_K, TOP_P, quote
from csd.record.trace import Header, Trace

RULES = ("coupled", "rejection")


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
    for allowed, value in (
        (TEMPERATURE, request.temperature),
        (TOP_P, request.top_p),
        (TOP_K, request.top_k),
        (SEED, request.seed),
    ):
        check_number(allowed, value)
    if request.rule not in RULES:
        raise Refusal(f"The acceptance rule must be one of {', '.join(RULES)}, not {quote(request.rule)}.")
