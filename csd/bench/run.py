"""Methods x prompts x repeats, interleaved, beside transformers' own ways to decode; every run stands in one file.

A run that stands in `traces.jsonl` is not run again, so a benchmark that was stopped goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from csd.bench.limits import Curve, Limits, Memory
from csd.bench.summary import ALONE, PEER, RACE, Contestant, Run, Summary
from csd.decoding.errors import Refusal
from csd.decoding.methods import Method, settings_of, title
from csd.record.metrics import repeated
from csd.record.trace import Prefill, Trace
from csd.request.prompts import Prompt
from csd.run import LaneAdvanced, LaneFinished, Request, check_request, run_race

if TYPE_CHECKING:
    from torch import Tensor

    from csd.bench.baselines import Decoded, Peer
    from csd.models.backends.interface import Backend, ForwardFn, Lane
    from csd.models.family import Family

VERSION = 1
CONFIG, TRACES = "config.json", "traces.jsonl"
WARM = 32  # new tokens of a warm-up

# How a peer fails where there is no compiler, no memory, or models that do not go together.
FAILURES = (RuntimeError, ValueError, TypeError, LookupError, AttributeError, OSError, ImportError)

Line = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is measured. `peers` are the titles of the peers, `raced`: the methods also run in a race, all at once."""

    prompts: tuple[Prompt, ...]
    methods: tuple[Method, ...]
    peers: tuple[str, ...] = ()
    repeats: int = 3
    raced: bool = True


@dataclass(frozen=True)
class Job:
    """One thing to time: a method alone, all of them in a race (no title), or a peer."""

    prompt: int
    repeat: int
    mode: str
    title: str


def jobs(plan: Plan) -> Iterator[Job]:
    """Everything to time, in order: within each prompt and repeat all contestants take turns, and who begins rotates.

    Peers decode greedily, so they are left out on prompts that are sampled.
    """
    turns = [(ALONE, title(method)) for method in plan.methods]
    turns += [(PEER, peer) for peer in plan.peers]
    if plan.raced and len(plan.methods) > 1:
        turns.append((RACE, ""))
    for number, prompt in enumerate(plan.prompts):
        for repeat in range(plan.repeats):
            first = repeat % len(turns)
            for mode, name in turns[first:] + turns[:first]:
                if mode != PEER or prompt.temperature == 0:
                    yield Job(number, repeat, mode, name)


def checked(family: Family, plan: Plan) -> Plan:
    """The plan, if the family can run it. Raises Refusal."""
    if not plan.prompts:
        raise Refusal("No prompt is left to measure. Give shorter ones, or fewer new tokens.")
    if plan.repeats < 1:
        raise Refusal(f"At least one repeat is needed, not {plan.repeats}.")
    for name, count in Counter(map(title, plan.methods)).items():
        if count > 1:
            raise Refusal(f"The method {name!r} is listed twice. Name each once.")
    for prompt in plan.prompts:
        check_request(family, _settings(prompt, plan.methods))
    return plan


def contestants(plan: Plan, peers: Sequence[Peer] = ()) -> tuple[Contestant, ...]:
    """Who is measured: the project's methods, then the peers of the plan."""
    own = [Contestant(title(method), method.name, True, method.name == "autoregressive") for method in plan.methods]
    return (*own, *(Contestant(peer.title, PEER, False, peer.plain) for peer in peers if peer.title in plan.peers))


@dataclass(frozen=True)
class Report:
    """All figures of a benchmark. `machine` names the device, `notes` are sentences on what was left out."""

    title: str
    machine: str
    config: dict[str, Any]
    prompts: tuple[Prompt, ...]
    summary: Summary
    limits: Limits | None = None
    memory: Memory | None = None
    curves: tuple[Curve, ...] = ()
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Everything as JSON; what is not a number is null."""
        found = {
            "version": VERSION,
            "title": self.title,
            "machine": self.machine,
            "config": self.config,
            "notes": self.notes,
            "prompts": [
                {"kind": one.kind, "title": one.name, "tokens": length, "temperature": one.temperature}
                for one, length in zip(self.prompts, self.summary.lengths)
            ],
            "best_autoregressive": self.summary.best,
            "methods": [asdict(row) for row in self.summary.rows],
            "ratios": [asdict(ratio) for ratio in self.summary.ratios],
            "cells": [asdict(cell) for cell in self.summary.cells],
            "repeating": sorted(self.summary.repeating),
            "limits": asdict(self.limits) if self.limits else None,
            "memory": asdict(self.memory) if self.memory else None,
            "growth": [asdict(curve) for curve in self.curves],
        }
        return _finite(found)


def summary(
    family: Family, plan: Plan, runs: Sequence[Run], peers: Sequence[Peer] = (), limits: Limits | None = None
) -> Summary:
    """The figures of these runs of a plan."""
    return Summary(
        contestants(plan, peers),
        tuple(prompt.kind for prompt in plan.prompts),
        tuple(len(family.encode(prompt.prompt)) for prompt in plan.prompts),
        family.dtype,
        tuple(runs),
        limits.autoregressive if limits else None,
    )


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# ---- the file


def config(family: Family, plan: Plan) -> dict[str, Any]:
    """What a folder of results is about; two runs with the same may be put together."""
    prompts = json.dumps([asdict(prompt) for prompt in plan.prompts], sort_keys=True)
    found = {
        "version": VERSION,
        "family": family.spec.name,
        "device": str(family.device),
        "dtype": family.dtype,
        "methods": [{"method": method.name, **settings_of(method)} for method in plan.methods],
        "peers": list(plan.peers),
        "repeats": plan.repeats,
        "race": plan.raced,
        "prompts": hashlib.sha256(prompts.encode()).hexdigest()[:16],
    }
    return json.loads(json.dumps(found))


def opened(folder: Path, wanted: dict[str, Any], plan: Plan) -> list[Run]:
    """Makes the folder, or reads what was run there before. Raises Refusal where that was something else.

    What a stopped process left half written is dropped from the file.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / CONFIG).exists():
            before = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
            changed = [name for name in wanted if before.get(name) != wanted[name]]
            if changed:
                raise Refusal(
                    f"{folder} holds a benchmark with other settings ({', '.join(changed)}). "
                    "Choose another folder with --out, or delete this one."
                )
        elif any(folder.iterdir()):
            raise Refusal(f"{folder} holds something else than a benchmark. Choose another folder with --out.")
        else:
            (folder / CONFIG).write_text(json.dumps(wanted, indent=1) + "\n", encoding="utf-8")
        return _restored(folder / TRACES, plan)
    except OSError as error:
        raise Refusal(f"{folder} cannot be used for results: {error.strerror}. Choose another with --out.") from error
    except (ValueError, AttributeError) as error:
        if isinstance(error, Refusal):
            raise
        raise Refusal(f"{folder / CONFIG} is damaged. Choose another folder with --out, or delete this one.") from error


def append(folder: Path, lines: Sequence[Line]) -> None:
    """Adds the lines of one job, all at once."""
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    with (folder / TRACES).open("a", encoding="utf-8") as file:
        file.write(text)


def run_of(line: Line) -> Run:
    """What a line of the file says. Raises ValueError where it says nothing."""
    try:
        place = {name: line[name] for name in ("prompt", "repeat", "mode", "title")}
        return _own(place, line) if line["mode"] != PEER else _peer(place, line)
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"This is no line of a benchmark: {error!r}.") from error


def _own(place: dict[str, Any], line: Line) -> Run:
    trace = Trace.from_dict(line["trace"])
    margins = None
    if trace.header.method == "autoregressive":
        margins = tuple(step.review.margin for step in trace.steps)
    return Run(
        **place,
        tokens=trace.tokens,
        counted=len(trace.tokens),
        seconds=trace.decode_seconds,
        prefill=trace.prefill_seconds,
        runs=len(trace.steps),
        repeated=repeated(trace),
        forwards=line["forwards"],
        margins=margins,
    )


def _peer(place: dict[str, Any], line: Line) -> Run:
    tokens, blocks = tuple(line["tokens"]), line["blocks"]
    return Run(
        **place,
        tokens=tokens,
        counted=len(tokens) - blocks[0][0],
        seconds=blocks[-1][1] - blocks[0][1],
        prefill=blocks[0][1],
        runs=len(blocks) - 1,
        repeated=0.0,  # its text is the autoregressive one, whose share is known, or it is counted as another
    )


def _restored(file: Path, plan: Plan) -> list[Run]:
    """The runs of whole jobs; the file is written anew where it holds more than those."""
    if not file.exists():
        return []
    texts = file.read_text(encoding="utf-8").splitlines(keepends=True)
    read: list[tuple[str, Run]] = []
    for text in texts:
        try:
            read.append((text, run_of(json.loads(text))))
        except ValueError:
            continue
    whole = len(plan.methods)
    raced = Counter((run.prompt, run.repeat) for _, run in read if run.mode == RACE)
    kept = [(text, run) for text, run in read if run.mode != RACE or raced[run.prompt, run.repeat] == whole]
    if len(kept) < len(texts):
        file.write_text("".join(text for text, _ in kept), encoding="utf-8")
    return [run for _, run in kept]


# ---- running


def left(plan: Plan, runs: Sequence[Run]) -> list[Job]:
    """The jobs that no run stands for yet."""
    done = {(run.prompt, run.repeat, run.mode, run.title if run.mode != RACE else "") for run in runs}
    return [job for job in jobs(plan) if (job.prompt, job.repeat, job.mode, job.title) not in done]


def warmed(
    family: Family,
    plan: Plan,
    peers: Sequence[Peer],
    progress: Callable[[str], None] = lambda sentence: None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[tuple[Peer, ...], tuple[str, ...]]:
    """Runs everything once, uncounted: the methods on the first prompt, the peers on a greedy one, compiling as needed.

    Returns the peers that can run, and a sentence for each that cannot.
    """
    short = replace(plan.prompts[0], max_new=min(WARM, plan.prompts[0].max_new))
    for _ in run_race(family, _settings(short, plan.methods)):
        pass
    greedy = [prompt for prompt in plan.prompts if prompt.temperature == 0]
    able, notes = [], []
    for peer in peers if greedy else ():
        if stopped():
            break
        progress(f"warming up {peer.title}{', which compiles' if peer.compiles else ''}")
        try:
            for prompt in _fillings(family, greedy) if peer.compiles else greedy[:1]:
                peer.decode(family.encode(prompt.prompt), prompt.max_new, family.eos)
        except FAILURES as error:
            notes.append(f"{peer.title} cannot run here: {_line(error)}")
        else:
            able.append(peer)
    return tuple(able), tuple(notes)


def measure(
    family: Family,
    plan: Plan,
    peers: Sequence[Peer],
    todo: Sequence[Job],
    stopped: Callable[[], bool] = lambda: False,
    failed: Callable[[str], None] = lambda sentence: None,
) -> Iterator[tuple[Job, list[Line]]]:
    """Do the jobs in order and yield the lines of each. A job that was stopped midway is not yielded.

    `failed` is told which peer failed on which prompt; that job has no lines.
    """
    watch = Stopwatch(str(family.device))
    watched = replace(family, backends={name: TimedBackend(one, watch) for name, one in family.backends.items()})
    by_title = {title(method): method for method in plan.methods}
    peer_of = {peer.title: peer for peer in peers}
    for job in todo:
        prompt = plan.prompts[job.prompt]
        if stopped():
            return
        if job.mode == PEER:
            try:
                decoded = peer_of[job.title].decode(family.encode(prompt.prompt), prompt.max_new, family.eos)
            except FAILURES as error:
                failed(f"{job.title} failed on {prompt.kind}: {prompt.name}: {_line(error)}")
                yield job, []
            else:
                yield job, [_peer_line(job, decoded)]
            continue
        if job.mode == RACE:
            traces = [trace for trace, _ in _raced(family, prompt, plan.methods, stopped, None)]
            lines = [_own_line(job, trace, None) for trace in traces]
        else:
            lines = [_own_line(job, *found) for found in _raced(watched, prompt, [by_title[job.title]], stopped, watch)]
        if any(line["trace"]["end"] == "stopped" for line in lines):
            return
        yield job, lines


class Stopwatch:
    """Counts the seconds inside model forwards. On a GPU the device counts, since the host does not wait there."""

    def __init__(self, device: str):
        self.gpu = device.startswith("cuda")
        self.total = 0.0
        self.events: list[tuple[Any, Any]] = []

    def timed(self, run: ForwardFn, ids: list[int], keep: int, rows: int) -> Tensor:
        """One forward pass, with its time added."""
        if self.gpu:
            return self._on_gpu(run, ids, keep, rows)
        started = perf_counter()
        out = run(ids, keep, rows)
        self.total += perf_counter() - started
        return out

    def reset(self) -> None:
        self.total = 0.0
        self.events.clear()

    @property
    def seconds(self) -> float:
        if not self.gpu:
            return self.total
        import torch

        torch.cuda.synchronize()
        return sum(begin.elapsed_time(end) for begin, end in self.events) / 1000

    def _on_gpu(self, run: ForwardFn, ids: list[int], keep: int, rows: int) -> Tensor:
        import torch

        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        out = run(ids, keep, rows)
        end.record()
        self.events.append((begin, end))
        return out


@dataclass(frozen=True)
class TimedBackend:
    """A backend whose forward passes are timed."""

    backend: Backend
    watch: Stopwatch

    def open_lane(self, capacity: int) -> TimedLane:
        return TimedLane(self.backend.open_lane(capacity), self.watch)


@dataclass(frozen=True)
class TimedLane:
    lane: Lane
    watch: Stopwatch

    def run(self, ids: list[int], keep: int, rows: int) -> Tensor:
        return self.watch.timed(self.lane.run, ids, keep, rows)

    def release(self) -> None:
        self.lane.release()


def _raced(
    family: Family,
    prompt: Prompt,
    lanes: Sequence[Method],
    stopped: Callable[[], bool],
    watch: Stopwatch | None,
) -> list[tuple[Trace, float | None]]:
    """The traces in the order of the methods; with a watch (one method) the seconds inside models while decoding."""
    ended = []
    for event in run_race(family, _settings(prompt, lanes), stopped):
        if watch and isinstance(event, LaneAdvanced) and isinstance(event.record, Prefill):
            watch.reset()
        if isinstance(event, LaneFinished):
            ended.append((event.lane, event.trace, watch.seconds if watch else None))
    return [(trace, seconds) for _, trace, seconds in sorted(ended, key=lambda one: one[0])]


def _settings(prompt: Prompt, lanes: Sequence[Method]) -> Request:
    return Request(prompt.prompt, tuple(lanes), prompt.max_new, temperature=float(prompt.temperature), seed=prompt.seed)


def _own_line(job: Job, trace: Trace, forwards: float | None) -> Line:
    place = asdict(replace(job, title=trace.header.title))
    return {**place, "forwards": forwards, "trace": trace.to_dict()}


def _peer_line(job: Job, decoded: Decoded) -> Line:
    return {**asdict(job), "tokens": list(decoded.tokens), "blocks": [list(block) for block in decoded.blocks]}


def _fillings(family: Family, prompts: Sequence[Prompt]) -> list[Prompt]:
    """A prompt for each size of static cache."""
    from csd.bench.baselines import buckets

    lengths = [len(family.encode(prompt.prompt)) + prompt.max_new for prompt in prompts]
    return [prompts[place] for place in buckets(lengths).values()]


def _line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return (text[0] if text else type(error).__name__)[:200]
