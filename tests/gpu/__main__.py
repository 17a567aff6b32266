"""Measure this project on an NVIDIA GPU: see docs/benchmark.md. Called by tests/gpu.sh."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from csd.paths import ROOT
from gpu.figures import Figure, read_figures
from gpu.run import GRACE, run_limited
from gpu.status import DONE, LEFT_OUT, NOT_RUN, Status, read_statuses, write_statuses
from gpu.steps import STEPS, Step, missing_packages
from gpu.table import make_table

INCOMPLETE, REFUSED, INTERRUPTED = 1, 2, 130
SHORTEST = 10  # seconds for which a step is not worth starting
CACHES = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
"""Folders of compiled kernels beside the results, by the variable that names each."""
IDENTITY = ("device", "torch", "transformers", "csd")
"""The versions that a folder's figures must share."""


def main(arguments: Sequence[str] | None = None, steps: Sequence[Step] = STEPS) -> int:
    options = _parser(steps).parse_args(arguments)
    name = "gpu-results" if options.device == "cuda" else "gpu-results-cpu"
    folder = (options.out or ROOT / name).resolve()
    first, *others = steps
    chosen = [step for step in others if not options.only or step.name in options.only]
    begun = monotonic()
    try:
        refusal = prepare(folder, options.device, first, chosen if options.again else ())
    except OSError as error:
        refusal = f"{folder} cannot be used for results: {error.strerror}. Choose another with --out."
    if refusal:
        print(refusal)
        return REFUSED
    code = measure(folder, options.device, chosen, begun + 60 * options.minutes)
    text = write_table(folder, options.device == "cuda", steps)
    print(f"\n{text}\nResults: {folder}. The table is in {folder / 'table.md'}, ready to paste into an issue.")
    return code


def prepare(folder: Path, device: str, versions: Step, again: Sequence[Step]) -> str:
    """Make the folder, forget the steps that are measured again, and find out what this machine is.

    Returns a sentence where nothing can be measured, or where the folder belongs to something else.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / "status.json").exists():
        return f"{folder} contains something other than these results. Choose another folder with --out."
    folder.mkdir(parents=True, exist_ok=True)
    statuses = read_statuses(folder)
    for step in (versions, *again):
        step.path(folder).unlink(missing_ok=True)
        shutil.rmtree(folder / step.name, ignore_errors=True)
        statuses.pop(step.name, None)
    for cache in CACHES.values() if again else ():  # what is compiled again must take its time
        shutil.rmtree(folder / cache, ignore_errors=True)
    write_statuses(folder, statuses)
    if not _is_installed("torch"):
        return f"{sys.executable} has no PyTorch. Name a Python that has: PYTHON=/path/to/python bash tests/gpu.sh"
    ended = _start(versions, device, folder, versions.longest(device))
    if ended.kind != DONE:
        return "Nothing was measured, for the reason above."
    write_statuses(folder, {**statuses, versions.name: ended})
    return _check_identity(folder, read_figures(versions.path(folder)), begun=bool(statuses))


def measure(folder: Path, device: str, steps: Sequence[Step], deadline: float) -> int:
    """Run the steps that are not done, in order, each within its limit and all before the deadline; the exit code."""
    statuses = read_statuses(folder)
    for step in steps:
        if statuses.get(step.name, Status(NOT_RUN)).kind == DONE:
            print(f"=== {step.name}: already done")
            continue
        missing, left = missing_packages(step, _is_installed), deadline - monotonic() - GRACE
        if missing:
            ended = Status(LEFT_OUT, f"needs {' and '.join(missing)}: pip install {' '.join(missing)}")
        elif left < SHORTEST:
            ended = Status(NOT_RUN, "no time was left; call again to go on")
        else:
            try:
                ended = _start(step, device, folder, min(step.longest(device), left))
            except KeyboardInterrupt:
                print("\nInterrupted. What was measured is kept; call again to go on.")
                return INTERRUPTED
        print(f"=== {step.name}: {ended.kind}{', ' if ended.text else ''}{ended.text} ({ended.seconds:.0f} s)")
        statuses[step.name] = ended
        write_statuses(folder, statuses)
    failed = [figure for step in steps for figure in read_figures(step.path(folder)) if figure.error]
    complete = all(statuses[step.name].kind == DONE for step in steps)
    return 0 if complete and not failed else INCOMPLETE


def write_table(folder: Path, on_gpu: bool, steps: Sequence[Step] = STEPS) -> str:
    """The table of everything in the folder, also written to table.md."""
    figures = {step.name: read_figures(step.path(folder)) for step in steps}
    text = make_table(steps, figures, read_statuses(folder), on_gpu)
    (folder / "table.md").write_text(text, encoding="utf-8")
    return text


def _start(step: Step, device: str, folder: Path, limit: float) -> Status:
    print(f"=== {step.name}: {step.settles} (at most {limit:.0f} s)", flush=True)
    log = folder / f"{step.name}.log"
    return run_limited(step.command(device, folder), limit, log, _environment(folder), _say)


def _say(line: str) -> None:
    print(line, flush=True)


def _environment(folder: Path) -> Mapping[str, str]:
    """No network, and compiled kernels beside the results: what a first call compiles, the next one finds."""
    return {
        "HF_HUB_OFFLINE": "1",
        "PYTHONWARNINGS": "ignore",
        **{name: str(folder / cache) for name, cache in CACHES.items()},
    }


def _is_installed(package: str) -> bool:
    return find_spec(package) is not None


def _check_identity(folder: Path, versions: Sequence[Figure], begun: bool) -> str:
    """A sentence where the folder's other figures were measured on something else; otherwise notes what this is."""
    here = {figure.what: figure.text for figure in versions if figure.what in IDENTITY}
    file = folder / "machine.json"
    try:
        there = json.loads(file.read_text(encoding="utf-8")) if begun else here
    except (OSError, ValueError):
        there = here
    changed = [name for name in IDENTITY if there.get(name) != here.get(name)]
    if changed:
        told = "; ".join(f"{name} {there.get(name)}, now {here.get(name)}" for name in changed)
        return f"{folder} has figures of something else ({told}). Choose another folder with --out, or delete this one."
    file.write_text(json.dumps(here, indent=1) + "\n", encoding="utf-8")
    return ""


def _parser(steps: Sequence[Step]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bash tests/gpu.sh",
        description="Measure this project on an NVIDIA GPU, step by step. A second call goes on where the first ended.",
    )
    parser.add_argument("--minutes", type=float, default=20, help="of all steps together (default: 20)")
    parser.add_argument("--out", type=Path, help="folder of the results (default: gpu-results in the project)")
    parser.add_argument("--only", action="append", choices=[step.name for step in steps], help="only this step")
    parser.add_argument("--again", action="store_true", help="repeat steps that are done")
    parser.add_argument(
        "--device", choices=("cuda", "cpu"), default="cuda", help="cpu: a rehearsal of the steps at a tiny scale"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
