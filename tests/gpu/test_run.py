"""A step ends within its limit, with all that it started, and says how it ended."""

from __future__ import annotations

import sys
from time import monotonic, sleep

import pytest

from gpu import run
from gpu.run import run_limited
from gpu.status import DONE, FAILED, OUT_OF_TIME

CHILD = "import subprocess, sys, time; print('begun', flush=True); subprocess.Popen(['sleep', '60']); time.sleep(60)"
DEAF = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); {CHILD}"


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


def test_at_its_limit_a_step_is_interrupted_and_may_end_well(go):
    ended, said = go("import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: print('kept', flush=True)", 8)
    assert ended.kind == OUT_OF_TIME and "call again" in ended.text and said == ["  kept"]


@pytest.mark.parametrize("code", [CHILD, DEAF])
def test_nothing_is_left_of_a_step_that_does_not_end(go, monkeypatch, code):
    """The child holds the output open, so that reading it to the end shows that it is gone."""
    monkeypatch.setattr(run, "GRACE", 0.5)
    started = monotonic()
    ended, said = go(code, 1.0)
    sleep(0.1)
    assert ended.kind == OUT_OF_TIME and said[0] == "  begun"
    assert monotonic() - started < 15
