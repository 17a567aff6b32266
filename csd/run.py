"""From a request to events: the one path that the page, the API, the command line and the benchmark take.

Importable without torch.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

from csd.decoding.errors import NotFinite, check_number
from csd.decoding.generate import generate
from csd.decoding.interleave import interleave
from csd.decoding.maxgram import BIGRAM, MAX_GRAM
from csd.decoding.methods import LaneParts, Method, Refusal, settings_of
from csd.decoding.suffix_index import SuffixIndex
from csd.models.device import describe_machine
from csd.models.faults import explain_race
from csd.models.messages import first_line
from csd.models.placement import where
from csd.ranges import MAX_NEW, quote
from csd.record.trace import End, Header, Level, Pieces, Prefill, Step, Trace, walk
from csd.request.request import Request, check_sampling
from csd.sentences import counted

if TYPE_CHECKING:
    from csd.decoding.acceptance import AcceptanceRule
    from csd.models.family import Family


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RaceStarted:
    """One header for each lane, the text of the prompt's ids, and a description of the machine that runs it."""

    headers: tuple[Header, ...]
    pieces: Pieces
    machine: str = ""


@dataclass(frozen=True)
class LaneAdvanced:
    """One lane made a step. `pieces` holds the ids that this race has not shown before."""

    lane: int
    record: Prefill | Step
    pieces: Pieces


@dataclass(frozen=True)
class LaneFinished:
    """One lane is finished, or was stopped; `fault` says why, where its device or a model failed."""

    lane: int
    trace: Trace
    fault: str = ""


RaceEvent = RaceStarted | LaneAdvanced | LaneFinished


def run_race(family: Family, request: Request, stopped: Callable[[], bool] = lambda: False) -> Iterator[RaceEvent]:
    """Run the methods on one prompt, interleaved, and yield what happens as it happens.

    Once `stopped()` is true the lanes end where they are, within one step. Raises Refusal, before anything runs, for a
    prompt or a setting that cannot be run. A lane whose model computes NaN, or that finds no memory, ends where it is;
    the others go on.
    """
    prompt = check_request(family, request)
    with ExitStack() as sessions:
        try:
            lanes = [_start(family, request, method, prompt, sessions) for method in request.methods]
        except (MemoryError, RuntimeError) as error:
            if sentence := explain_race(error):
                raise Refusal(sentence) from error
            raise
        pieces: Pieces = family.pieces(prompt)
        machine = describe_machine(str(family.device), family.dtype, family.placed)
        yield RaceStarted(tuple(lane.header for lane in lanes), dict(pieces), machine)
        for number, record in interleave([lane.guarded() for lane in lanes], stopped):
            lane = lanes[number]
            if record is None:
                lane.finished = True
                yield LaneFinished(number, lane.trace(pieces), lane.fault)
                continue
            lane.add(record)
            new = family.pieces(sorted(_ids_of(record) - pieces.keys()))
            pieces.update(new)
            yield LaneAdvanced(number, record, new)
        for number, lane in enumerate(lanes):
            if not lane.finished:
                lane.records.close()
                yield LaneFinished(number, lane.trace(pieces))


def finished_traces(events: Iterator[RaceEvent]) -> tuple[Trace, ...]:
    """The traces of a race in the order of its methods, once it has ended."""
    found = {event.lane: event.trace for event in events if isinstance(event, LaneFinished)}
    return tuple(found[lane] for lane in sorted(found))


def check_prompt(prompt: object) -> None:
    """What can be said of a prompt before there are models. Raises Refusal with a sentence."""
    if not isinstance(prompt, str) and prompt is not None:
        raise Refusal(f"The prompt must be text, not {quote(prompt)}.")
    if not prompt or not prompt.strip():
        raise Refusal("The prompt is empty. Write one, or pick an example.")
    if not _is_unicode(prompt):
        raise Refusal("The prompt contains half of a surrogate pair, which is not text. Remove it, or paste it again.")


def check_request(family: Family, request: Request) -> tuple[int, ...]:
    """The prompt's ids, if the family can run this request. Raises Refusal with a sentence."""
    if not request.methods:
        raise Refusal("Choose at least one method to run.")
    for method in request.methods:
        method.check(family.draft_names)
    check_sampling(request)
    check_number(MAX_NEW, request.max_new)
    check_prompt(request.prompt)
    unspelled = family.unspelled(request.prompt)
    if unspelled:
        named = ", ".join(f"“{one}”" for one in unspelled)
        raise Refusal(
            f"The vocabulary of {family.spec.name} does not have {named}. Write the prompt without "
            f"{'it' if len(unspelled) == 1 else 'them'}, or choose another family."
        )
    prompt = tuple(family.encode(request.prompt))
    room = family.context - len(prompt)
    if room < 1:
        raise Refusal(
            f"The prompt has {counted(len(prompt), 'token')}, and this model reads at most {family.context:,}, new "
            "ones included. Shorten it."
        )
    if request.max_new > room:
        raise Refusal(
            f"This model reads at most {counted(family.context, 'token')}; the prompt has {len(prompt):,}: "
            f"at most {counted(room, 'new token')}.",
            "max_new",
        )
    return prompt


@dataclass
class _Lane:
    """A lane while it runs."""

    header: Header
    records: Generator[Prefill | Step, None, None]
    prefill: list[Prefill] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    finished: bool = False
    fault: str = ""

    @cached_property
    def levels(self) -> frozenset[str]:
        return frozenset(level.name for level in self.header.levels)

    def guarded(self) -> Iterator[Prefill | Step]:
        """Its records. A lane whose device or model fails ends with what it has, and the others go on."""
        try:
            yield from self.records
        except (MemoryError, RuntimeError, NotFinite) as error:
            self.fault = explain_race(error)
            if not self.fault:
                raise
            log.warning("%s: %s", self.header.method, first_line(error))

    def add(self, record: Prefill | Step) -> None:
        """Raises Refusal for a token of an author that is not a level, since such a trace could not be shown."""
        if isinstance(record, Step):
            for author in {*record.authors, *record.review.authors}:
                if author not in self.levels:
                    method = self.header.method
                    raise Refusal(
                        f"“{author}” wrote a token but is not in `leaves` of the method “{method}”. Add it there."
                    )
            self.steps.append(record)
        else:
            self.prefill.append(record)

    def trace(self, pieces: Pieces) -> Trace:
        used = set(self.header.prompt).union(*map(_ids_of, self.steps))
        shown = {i: pieces[i] for i in sorted(used)}
        return Trace(self.header, tuple(self.prefill), tuple(self.steps), self._end(), shown)

    def _end(self) -> End:
        """Why the text ended where it does."""
        if self.steps and self.steps[-1].tokens[-1] in self.header.eos:
            return "eos"
        return "budget" if sum(len(step.tokens) for step in self.steps) == self.header.max_new else "stopped"


def _start(family: Family, request: Request, method: Method, prompt: tuple[int, ...], sessions: ExitStack) -> _Lane:
    capacity = len(prompt) + request.max_new
    opened = {name: family.session(name, capacity) for name in method.models()}
    for session in opened.values():
        sessions.callback(session.close)
    uses_max_gram = MAX_GRAM in method.leaves  # if not, it needs neither index nor bigram table
    index = SuffixIndex()
    eos = family.eos if request.stop_at_eos else frozenset()
    parts = LaneParts(
        opened, _rule(family, request), index, family.bigram if uses_max_gram else None, family.encode_plain
    )
    prefilled = [*([index] if uses_max_gram else []), *opened.values()]
    root = method.build(parts)
    if capacity > root.session.context:  # of a draft by itself; the target's was checked with the request
        room = root.session.context - len(prompt)
        advice = f"at most {counted(room, 'new token')}" if room > 0 else "shorten it"
        raise Refusal(
            f"{root.session.name} reads at most {counted(root.session.context, 'token')}; the prompt has "
            f"{len(prompt):,}: {advice}.",
            "max_new" if room > 0 else "",
        )
    records = generate(root, prefilled, prompt, request.max_new, eos)
    return _Lane(_header(family, request, method, prompt, eos), records)


def _header(family: Family, request: Request, method: Method, prompt: tuple[int, ...], eos: frozenset[int]) -> Header:
    return Header(
        method=method.name,
        label=method.label,
        settings=settings_of(method),
        family=family.spec.name,
        levels=(*_leaves(request.methods), *family.levels),
        prompt=prompt,
        text=request.prompt,
        max_new=request.max_new,
        eos=tuple(sorted(eos)),
        rule=request.rule if request.temperature > 0 else "greedy",
        temperature=request.temperature,
        top_k=request.top_k,
        top_p=request.top_p,
        seed=request.seed,
        device=where(str(family.device), family.placed),
        dtype=family.dtype,
        versions={"python": sys.version.split()[0], "torch": version("torch"), "transformers": version("transformers")},
    )


def _leaves(methods: Sequence[Method]) -> tuple[Level, ...]:
    """The statistical levels of a race: Max-Gram's, and those that its methods bring along."""
    names = dict.fromkeys((MAX_GRAM, BIGRAM, *(leaf for method in methods for leaf in method.leaves)))
    return tuple(Level(name, 0) for name in names)


def _rule(family: Family, request: Request) -> AcceptanceRule:
    """The target's rule of acceptance; noise and random numbers belong to one lane."""
    from csd.decoding.acceptance import Coupled, Greedy, Rejection
    from csd.decoding.noise import GumbelNoise
    from csd.decoding.sampling import LogitsWarper, Sampler

    if request.temperature == 0:
        return Greedy()
    warper = LogitsWarper(request.temperature, request.top_k, request.top_p)
    if request.rule == "coupled":
        return Coupled(warper, GumbelNoise(request.seed, family.vocab, family.device))
    return Rejection(warper, Sampler(request.seed, family.device))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeError:
        return False
    return True


def _ids_of(record: Prefill | Step) -> set[int]:
    """Every id that a record names."""
    if isinstance(record, Prefill):
        return set()
    return set(record.tokens).union(*(part.tokens for part in walk(record.review)))
