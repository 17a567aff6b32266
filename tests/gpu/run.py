"""Run a step in a process of its own, within its limit, with its output on the terminal and in a file."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TextIO

from csd.paths import ROOT
from gpu.status import DONE, FAILED, OUT_OF_TIME, Status

GRACE = 20  # seconds between asking a step to stop and killing it
SHOWN = 200  # characters of a line on the terminal


def run_limited(
    command: list[str], limit: float, log: Path, env: Mapping[str, str], say: Callable[[str], None]
) -> Status:
    """How the command ended. At its limit it is interrupted as by Ctrl-C, and killed if it does not end then.

    It and all that it starts are gone afterwards. Its exit code 0 means that it is done.
    """
    started, lines = monotonic(), []
    with (
        log.open("w", encoding="utf-8") as file,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd=ROOT,
            env={**os.environ, **env},
            start_new_session=True,
            preexec_fn=_hear_interrupts,
        ) as process,
    ):
        reader = Thread(target=_copy_lines, args=(process.stdout, file, lines, say), daemon=True)
        reader.start()
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _stop(process)
            reader.join(GRACE)
    spent = monotonic() - started
    if code is None:
        return Status(OUT_OF_TIME, f"stopped after {limit:.0f} s; call again to go on", spent)
    if code:
        told = lines[-1] if lines else "it said nothing"
        return Status(FAILED, f"exit code {code}: {told[:SHOWN]}", spent)
    return Status(DONE, "", spent)


def _copy_lines(output: TextIO, file: TextIO, lines: list[str], say: Callable[[str], None]) -> None:
    for line in output:
        file.write(line)
        file.flush()
        if line.strip():
            lines.append(line.rstrip())
            say(f"  {line.rstrip()[:SHOWN]}")


def _hear_interrupts() -> None:
    """What runs in the background of a shell ignores Ctrl-C, and so would its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _stop(process: subprocess.Popen) -> None:
    """End the process and its children."""
    if process.poll() is None:
        _signal_group(process, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    _signal_group(process, signal.SIGKILL)
    process.wait()


def _signal_group(process: subprocess.Popen, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
