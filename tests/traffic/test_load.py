"""The command against a page that is served, and against none."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest
from browser import free_port

from csd.traffic.samples import RACES

# Only looked for: importing locust would replace the blocking calls of all tests in this process.
pytestmark = pytest.mark.skipif(find_spec("locust") is None, reason="locust is not installed")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, since locust replaces the blocking calls of the one that imports it."""
    command = [sys.executable, "-m", "csd", "load", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
def test_visitors_of_a_served_page(house, tmp_path):
    families, home = house.studio.families, house.studio.home
    end = time.monotonic() + 120
    while families.status(home).state != "ready" and time.monotonic() < end:
        time.sleep(0.1)
    options = ("--visitors", "3", "--seconds", "8", "--pause", "0.5", "--tokens", "8", "--out", str(tmp_path))
    done = run(house.url, *options)
    assert done.returncode == 0, done.stderr
    kinds = json.loads(done.stdout.splitlines()[-1])["kinds"]
    races = [kinds[kind] for kind in RACES if kind in kinds]  # what visitors do is drawn by lot
    assert races and all(race["ok"] == race["count"] > 0 for race in races)
    assert kinds["GET /"]["ok"] >= 4
    stored = json.loads((tmp_path / "load.json").read_text())
    assert stored["summary"]["kinds"] == kinds and stored["server"]
    assert "Plotly.newPlot" in (tmp_path / "load.html").read_text(encoding="utf-8")


def test_no_page_is_a_sentence():
    done = run(f"http://127.0.0.1:{free_port()}", "--seconds", "1")
    assert done.returncode == 2
    assert done.stderr.startswith("Nothing answers at http://127.0.0.1:") and "Traceback" not in done.stderr
