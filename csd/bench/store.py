"""The folder of a benchmark: its configuration, and a line for every timed run.

A run whose line is in `traces.jsonl` is not run again, so a benchmark that was stopped can be resumed.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from csd.bench.plan import Job, Plan, list_jobs
from csd.bench.timed_run import Line, TimedRun, parse_line
from csd.decoding.errors import Refusal
from csd.decoding.methods import settings_of
from csd.models.placement import where

if TYPE_CHECKING:
    from csd.models.family import Family

VERSION = 2
CONFIG, TRACES = "config.json", "traces.jsonl"

Config = dict[str, Any]
"""What a folder of results is about, as JSON. Runs with the same configuration may be put together."""


def make_config(family: Family, plan: Plan) -> Config:
    prompts = json.dumps([asdict(prompt) for prompt in plan.prompts], sort_keys=True)
    config = {
        "version": VERSION,
        "family": family.spec.name,
        "device": where(str(family.device), family.placed),
        "dtype": family.dtype,
        "methods": [{"method": method.name, **settings_of(method)} for method in plan.methods],
        "baselines": [entry.id for entry in plan.baselines],
        "repeats": plan.repeats,
        "race": plan.race,
        "prompts": hashlib.sha256(prompts.encode()).hexdigest()[:16],
    }
    return json.loads(json.dumps(config))


def open_folder(folder: Path, config: Config, plan: Plan) -> list[TimedRun]:
    """Create the folder, or read the runs that it holds. What an interrupted process left half written is dropped.

    Raises Refusal where the folder cannot be used or holds something else.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / CONFIG).exists():
            _check_config(folder, config)
        elif any(folder.iterdir()):
            raise Refusal(f"{folder} contains something other than a benchmark. Choose another folder with --out.")
        else:
            (folder / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
        return _read_runs(folder / TRACES, plan)
    except OSError as error:
        raise Refusal(f"{folder} cannot be used for results: {error.strerror}. Choose another with --out.") from error


def remaining_jobs(plan: Plan, runs: Iterable[TimedRun]) -> list[Job]:
    """The jobs of a plan that have not been run yet."""
    done = {Job(run.prompt, run.repeat, run.mode, "" if run.mode == "race" else run.entry) for run in runs}
    return [job for job in list_jobs(plan) if job not in done]


def append_lines(folder: Path, lines: Sequence[Line]) -> None:
    """Add the lines of one job in a single write."""
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    with (folder / TRACES).open("a", encoding="utf-8") as file:
        file.write(text)


def _check_config(folder: Path, config: Config) -> None:
    """Raise Refusal where the folder's configuration is another one."""
    another = "Choose another folder with --out, or delete this one."
    try:
        stored = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        version = stored.get("version")
    except (ValueError, AttributeError) as error:
        raise Refusal(f"{folder / CONFIG} is damaged. {another}") from error
    if version != VERSION:
        raise Refusal(f"{folder} contains a benchmark of another version of this program. {another}")
    changed = [name for name in config if stored.get(name) != config[name]]
    if changed:
        raise Refusal(f"{folder} contains a benchmark with other settings ({', '.join(changed)}). {another}")


def _read_runs(file: Path, plan: Plan) -> list[TimedRun]:
    """The runs of complete jobs; the file is rewritten where it holds more than those."""
    if not file.exists():
        return []
    texts = file.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    read: list[tuple[str, TimedRun]] = []
    for text in texts:
        try:
            read.append((text, parse_line(json.loads(text))))
        except ValueError:
            continue
    raced = Counter((run.prompt, run.repeat) for _, run in read if run.mode == "race")
    whole = len(plan.methods)
    kept = [(text, run) for text, run in read if run.mode != "race" or raced[run.prompt, run.repeat] == whole]
    if len(kept) < len(texts):
        file.write_text("".join(text for text, _ in kept), encoding="utf-8")
    return [run for _, run in kept]
