"""A race during which the page's process was stopped and went on, as when its container is paused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import chain, repeat

import pytest

from csd.paths import ROOT
from csd.web.standstill import Ticks

RACE = """
import time
from fake_races import HOME, REQUEST, family, trace
from csd.run import LaneFinished
from csd.web.studio import Studio

def run(family, request, stopped):
    print("runs", flush=True)
    time.sleep(1)
    yield LaneFinished(0, trace("budget"))

print([*Studio(HOME, family, run).race("v", HOME, REQUEST)][-1].race.notes)
"""


def test_ticks_tell_the_longest_gap_also_the_last_one():
    with Ticks(chain([5.0], repeat(9.0)).__next__) as ticks:
        pass
    assert ticks.longest == 4.0


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")
@pytest.mark.parametrize(("seconds", "is_marked"), [(3.0, True), (0.1, False)])
def test_a_race_in_which_the_process_stood_still_is_marked_as_disturbed(seconds, is_marked):
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    process = subprocess.Popen(
        [sys.executable, "-c", RACE], env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "runs\n"
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)
    told, _ = process.communicate(timeout=60)
    assert ("The page stood still for a while during the race" in told) == is_marked, told
