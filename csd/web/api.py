"""The endpoint /race: a race for programs, with traces as its answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from csd.record import metrics
from csd.record.trace import Trace
from csd.request.form import Form, to_request
from csd.web.context import PageContext
from csd.web.fields import FamilyFields
from csd.web.news import Finished, Refused
from csd.web.races import FinishedRace
from csd.web.wiring import visitor_of


def make_endpoint(context: PageContext) -> Callable[..., Iterator[dict[str, Any]]]:
    """The function that Gradio publishes: its signature is the endpoint's.

    It is a generator because Gradio closes one whose client is gone, which stops the race.
    """
    home = context.studio.home
    start: Any = home.defaults.form()  # all of its numbers are set

    def race(
        prompt: str,
        methods: list[str] = list(context.studio.deployment.lanes or start.lanes),  # noqa: B006
        family: str = home.spec.name,
        draft: str = "",
        k: int = start.k,
        lookup: int = start.lookup,
        K: str = "",
        lenience: float = start.lenience,
        temperature: float = start.temperature,
        top_k: int = start.top_k,
        top_p: float = start.top_p,
        seed: int = start.seed,
        rule: str = start.rule,
        max_new: int = start.max_new,
        always: bool = start.always,
        copies: list[str] | None = None,
        request: gr.Request | None = None,
    ) -> Iterator[dict]:
        """Race 1 to 4 decoding methods on a prompt with real models, and return how fast and how exact each was.

        All methods write the same text, as long as the target's own choice is followed; what differs is the time. The
        answers sent while the race waits and runs are empty; the last one counts. The race stops when the client
        disconnects, and the page does not keep it.

        Parameters:
            prompt: the text to continue, or the question for a family that chats
            methods: 1 to 4 of the page's lanes, such as "autoregressive", "speculative" or "adaptive cascade"
            family: the name of a ready-made family of models, such as "embedded" or "smollm2"
            draft: the draft of speculative decoding; empty: the family's default
            k: tokens that speculative decoding drafts per review
            lookup: tokens that prompt lookup copies per review
            K: the plan of the cascade, the paper's cumulative matrix as text; empty: the family's preset
            lenience: how lenient inner reviewers are, from 1 (strict); the target is always strict
            temperature: 0 for greedy decoding
            top_k: sample among so many tokens; 0: among all
            top_p: sample among the most likely tokens with this share of the probability
            seed: of the samples; the same seed gives the same text in every lane
            rule: how drafts are accepted when sampling, "coupled" or "rejection"
            max_new: new tokens per lane at most
            always: whether to go on after an end-of-text token
            copies: quantised copies of the target to use as drafts: "self-8bit", "self-4bit"; left out: the family's

        Returns:
            summary (speed, tokens, tokens per run of the target, text, and a fault if it failed, of each method), notes
            (sentences on what cut the race short or makes its timings unreliable; most races have none) and traces (the
            full record)
        """
        form = Form(
            prompt=prompt,
            lanes=methods,
            draft=draft,
            k=k,
            lookup=lookup,
            K=K,
            lenience=lenience,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            seed=seed,
            rule=rule,
            max_new=max_new,
            always=always,
        )
        try:
            for race in run_to_end(context, visitor_of(context, request), family, copies, form):
                traces, faults, notes = (race.traces, race.faults, race.notes) if race else ((), (), ())
                yield {
                    "summary": [summarize(trace, fault) for trace, fault in zip(traces, faults, strict=True)],
                    "notes": [*notes],
                    "traces": [trace.to_dict() for trace in traces],
                }
        except ValueError as error:
            raise gr.Error(str(error), print_exception=False) from error

    return race


def run_to_end(
    context: PageContext, visitor: str, family: str, copies: list[str] | None, form: Form
) -> Iterator[FinishedRace | None]:
    """A race of 1 to 4 lanes on the home device: nothing at each look, and the race at its end.

    Raises ValueError with a sentence.
    """
    home = context.studio.home
    context.studio.deployment.check_name(family)
    choice = FamilyFields(family, copies=copies, device=home.device, dtype=home.dtype).to_choice()
    request = to_request(form, choice.defaults, least=1)
    for news in context.studio.race(visitor, choice, request, keeps=False):
        if isinstance(news, Refused):
            raise ValueError(news.sentence)
        yield news.race if isinstance(news, Finished) else None


def summarize(trace: Trace, fault: str = "") -> dict[str, Any]:
    """One lane in a few numbers; None where there is nothing to count, or where no `fault` ended it early."""
    numbers = {
        "tokens_per_second": metrics.speed(trace),
        "tokens_per_second_with_prefill": metrics.speed_with_prefill(trace),
        "tokens_per_target_run": metrics.mat(trace),
        "repeated_8_grams": metrics.repeated(trace),
    }
    finite = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
    told = {"method": trace.header.title, "tokens": len(trace.tokens), "end": trace.end, "text": trace.answer}
    return {**told, **finite, "fault": fault or None}
