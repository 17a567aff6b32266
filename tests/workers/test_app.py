"""The page over two worker processes with the embedded family, as `python app.py --workers 2` starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from browser import STORY, free_port
from gradio_client import Client

from csd.paths import ROOT
from csd.workers.places import cores_by_sibling

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.skipif(len(cores_by_sibling()) < 2, reason="needs a core for each of two workers"),
]
PATIENCE = 240
ALONE = ["autoregressive"]
LONG = 400  # tokens: seconds, in which a worker is killed


@pytest.fixture(scope="module")
def app():
    port = free_port()
    settings = {**os.environ, "GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "app.py", "--family", "embedded", "--workers", "2", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=settings)
    yield process, f"http://127.0.0.1:{port}/"
    workers = workers_of(process)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(workers, 20)
    assert not alive, "a worker outlives its page"


def workers_of(process: subprocess.Popen) -> list[psutil.Process]:
    children = psutil.Process(process.pid).children()
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


def connect(url: str) -> Client:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            return Client(url, verbose=False)
        except Exception:
            time.sleep(0.2)
    raise AssertionError("the page did not come")


def test_two_races_at_a_time_and_one_worker_killed_in_mid_race(app):
    process, url = app
    clients = [connect(url), connect(url)]  # visitors
    first = clients[0].predict(STORY, ALONE, max_new=8, api_name="/race")
    assert "libtorch" not in Path(f"/proc/{process.pid}/maps").read_text(), "torch is for workers only"
    workers = workers_of(process)
    assert len(workers) == 2
    before = [worker.cpu_times().user for worker in workers]
    jobs = [client.submit(STORY, ALONE, max_new=LONG, always=True, api_name="/race") for client in clients]
    end = time.monotonic() + PATIENCE
    while any(worker.cpu_times().user - past < 0.3 for worker, past in zip(workers, before)):
        assert time.monotonic() < end, "the races do not run at the same time"
        assert not any(job.done() for job in jobs)
        time.sleep(0.05)
    workers[0].kill()
    outcomes = [job.exception(PATIENCE) or job.result() for job in jobs]
    lost, kept = sorted(outcomes, key=lambda outcome: isinstance(outcome, dict))
    assert "The race is lost, your prompt is not. A new worker is being started: race again." in str(lost)
    assert [lane["tokens"] for lane in kept["summary"]] == [LONG]
    again = [client.submit(STORY, ALONE, max_new=8, api_name="/race") for client in clients]
    assert all(job.result(PATIENCE)["summary"][0]["text"] == first["summary"][0]["text"] for job in again)
