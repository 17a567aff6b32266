"""The process as its surroundings treat it: ended by a signal, or started where the port is taken."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress

import httpx
import pytest

import app
from csd.paths import ROOT
from csd.traffic.protocol import API

LONG = {"prompt": "Once upon a time", "methods": ["autoregressive", "speculative"], "max_new": 900, "always": True}


def start(port: int, folder, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "app.py", "--family", "embedded", "--port", str(port), *arguments],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.mark.slow
def test_a_taken_port_is_a_sentence(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = start(port, tmp_path)
        said, _ = refused.communicate(timeout=120)
    assert refused.returncode == 1
    assert f"Port {port} is in use." in said and "Traceback" not in said


def test_a_signal_that_was_ignored_from_the_beginning_stays_so():
    before = {number: signal.getsignal(number) for number in app.ENDING}
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        app.end_by_signals()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        app.end_by_signals()
        for number in app.ENDING:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(number)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.slow
def test_a_signal_in_mid_race_ends_the_page_cleanly(tmp_path):
    """Which the page treats as it does Ctrl-C: exit code 0, nothing but the address on the terminal, no temporary file,
    and the race's lanes as far as they got."""
    port = free_port()
    process = start(port, tmp_path)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
            for _ in range(600):
                assert process.poll() is None, process.stdout.read()
                with suppress(httpx.HTTPError):
                    if http.get("/health/ready").status_code == 200:
                        break
                time.sleep(0.2)
            assert list(tmp_path.glob("csd-*"))
            event = http.post(f"{API}/call/v2/race", json=LONG).json()["event_id"]
            with http.stream("GET", f"{API}/call/v2/race/{event}") as stream:
                lines = stream.iter_lines()
                while next(lines) != "event: generating":
                    pass
                process.send_signal(signal.SIGTERM)
                answer = [line for line in lines if line.startswith("data: ")][-1]
        said, _ = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, said
    assert [line for line in said.splitlines() if line and "unning on" not in line and "public link" not in line] == []
    assert not [*tmp_path.glob("csd-*"), *tmp_path.glob("gradio*")]
    traces = json.loads(answer.removeprefix("data: "))[0]["traces"]
    assert [trace["end"] for trace in traces] == ["stopped"] * 2
