"""What a simulated visitor asks for, and whether an answer is an answer to that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from csd.record.trace import Trace
from csd.record.verdict import compare_tokens, margins
from csd.traffic.samples import Failed

LANES = ("speculative", "prompt lookup", "adaptive cascade")
NAMES = ("Anna", "Ben", "Clara", "Dan", "Emma", "Finn", "Grace", "Hugo", "Ida", "Jack", "Kate", "Leo")
PLACES = ("garden", "forest", "river", "house", "market", "school", "lake", "farm", "hill", "village")


@dataclass(frozen=True)
class Wish:
    """The settings of a race; the prompt is nobody else's."""

    prompt: str
    lanes: tuple[str, ...]
    max_new: int
    temperature: float
    seed: int

    def of_page(self) -> dict[str, Any]:
        """As inputs of the page."""
        names = {"max-new": self.max_new, "temperature": self.temperature, "seed": self.seed}
        return {"prompt": self.prompt, "lanes": list(self.lanes), **names}

    def of_endpoint(self) -> dict[str, Any]:
        """As parameters of the endpoint /race."""
        names = {"max_new": self.max_new, "temperature": self.temperature, "seed": self.seed}
        return {"prompt": self.prompt, "methods": list(self.lanes), **names}


@dataclass(frozen=True)
class Lane:
    """What was generated, with the top-2 margin of each token where it is known."""

    tokens: tuple[int, ...]
    margins: tuple[float | None, ...]
    whole: bool


def make_wish(random: Random, number: int, tokens: int) -> Wish:
    """A race of two to four lanes, greedy or sampled; `number` makes the prompt unique."""
    name, other = random.sample(NAMES, 2)
    prompt = f"Once upon a time, in house {number}, {name} and {other} went to the {random.choice(PLACES)}."
    lanes = ("autoregressive", *(lane for lane in LANES if random.random() < 0.7))
    if len(lanes) == 1:
        lanes = ("autoregressive", LANES[0])
    return Wish(prompt, lanes, random.randint(max(1, tokens // 2), tokens), random.choice((0.0, 0.8)), number)


def check_log(wish: Wish, log: str) -> None:
    """Raises Failed unless this is the stage's log of the race that was wished for."""
    lines = [json.loads(line) for line in log.splitlines()]
    opened = next((line for line in lines if line["t"] == "open"), None)
    if opened is None:
        raise Failed("lost", "the race was not shown")
    lanes = tuple(lane["method"] for lane in opened["lanes"])
    most = {lane["max"] for lane in opened["lanes"]}
    if (opened["prompt"], lanes, most) != (wish.prompt, wish.lanes, {wish.max_new}):
        raise Failed("mixed", f"asked for {wish}, shown {opened['prompt'][:80]!r}, {lanes}, {most}")
    _check_lanes([_lane_of_log(lines, lane) for lane in range(len(wish.lanes))])


def check_answer(wish: Wish, answer: dict[str, Any]) -> None:
    """Raises Failed unless this answer of the endpoint /race has the traces of the race that was wished for."""
    traces = [Trace.from_dict(trace) for trace in answer["traces"]]
    heads = [trace.header for trace in traces]
    if tuple(head.method for head in heads) != wish.lanes:
        raise Failed("mixed", f"asked for {wish}, answered with {[head.method for head in heads]}")
    for head in heads:
        given = (head.text, head.max_new, head.temperature, head.seed)
        if given != (wish.prompt, wish.max_new, wish.temperature, wish.seed):
            raise Failed("mixed", f"asked for {wish}, answered with {given!r}")
    _check_lanes([Lane(trace.tokens, margins(trace), trace.end != "stopped") for trace in traces])


def _lane_of_log(lines: Sequence[dict[str, Any]], lane: int) -> Lane:
    tokens: list[int] = []
    known: list[float | None] = []
    for line in lines:
        if line["t"] == "step" and line["i"] == lane:
            own: list[float | None] = [None] * len(line["x"])
            if line["r"]["ok"] < len(own):
                own[line["r"]["ok"]] = line["r"].get("m")
            tokens += line["x"]
            known += own
    ended = next((line["end"] for line in lines if line["t"] == "end" and line["i"] == lane), "stopped")
    return Lane(tuple(tokens), tuple(known), ended != "stopped")


def _check_lanes(lanes: Sequence[Lane]) -> None:
    """Lanes of an exact race generate the same text; near-ties of a float32 pass are no fault."""
    reference = lanes[0]
    for number, lane in enumerate(lanes[1:], 1):
        whole = lane.whole and reference.whole
        found = compare_tokens(lane.tokens, reference.tokens, reference.margins, "float32", whole)
        if found.is_fault:
            raise Failed("differs", f"lane {number} differs from token {found.position} on")
