"""A step ends within its limit, with all that it started, and says how it ended."""

from __future__ import annotations

import sys
import threading
from time import sleep

import pytest

from gpu import run
from gpu.run import run_limited
from gpu.status import DONE, FAILED, OUT_OF_TIME, Status

# Shells, which are ready sooner than Python.
ENDS_WELL = "trap 'echo kept; exit' INT; sleep 60 & wait"
HAS_A_CHILD = "echo begun; sleep 60 & wait"
IS_DEAF = f"trap '' INT; {HAS_A_CHILD}"


@pytest.fixture
def go(tmp_path):
    """Runs Python code as a step."""
    said: list[str] = []

    def start(code: str, limit: float = 20):
        return run_limited(
            [sys.executable, "-c", code], limit, tmp_path / "log", {"CSD_STEP": "set"}, said.append
        ), said

    return start


def test_a_step_that_ends(go, tmp_path):
    ended, said = go("import os; print(os.environ['CSD_STEP']); print('x' * 999)")
    assert ended.kind == DONE and 0 < ended.seconds < 20
    assert said == ["  set", "  " + "x" * run.SHOWN]
    assert (tmp_path / "log").read_text() == "set\n" + "x" * 999 + "\n"


def test_a_step_that_fails_says_its_last_line(go):
    ended, _ = go("print('so far'); raise SystemExit('no such thing')")
    assert (ended.kind, ended.text) == (FAILED, "exit code 1: no such thing")
    ended, _ = go("raise SystemExit(4)")
    assert (ended.kind, ended.text) == (FAILED, "exit code 4: it said nothing")


def limited(script: str, folder) -> tuple[Status, list[str]]:
    said: list[str] = []
    return run_limited(["sh", "-c", script], 2, folder / "log", {}, said.append), said


def test_at_its_limit_a_step_is_interrupted_and_may_end_well(tmp_path):
    ended, said = limited(ENDS_WELL, tmp_path)
    assert ended.kind == OUT_OF_TIME and "call again" in ended.text and said == ["  kept"]


@pytest.mark.parametrize("script", [HAS_A_CHILD, IS_DEAF])
def test_nothing_is_left_of_a_step_that_does_not_end(tmp_path, monkeypatch, script):
    """The child holds the output open: once the thread that reads it has ended, the child is gone."""
    monkeypatch.setattr(run, "GRACE", 0.5)
    before = threading.active_count()
    ended, said = limited(script, tmp_path)
    for _ in range(100):
        if threading.active_count() == before:
            break
        sleep(0.1)
    assert threading.active_count() == before
    assert (ended.kind, said) == (OUT_OF_TIME, ["  begun"])
