"""The process as its surroundings treat it: ended by a signal, or started where the port is taken."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from csd.paths import ROOT


def start(port: int, folder, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "app.py", "--family", "embedded", "--port", str(port), *arguments],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.slow
def test_a_taken_port_is_a_sentence_and_sigterm_ends_cleanly(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = start(port, tmp_path)
        said, _ = refused.communicate(timeout=120)
    assert refused.returncode == 1
    assert f"Port {port} is in use." in said and "Traceback" not in said
    process = start(port, tmp_path)
    try:
        for _ in range(600):
            assert process.poll() is None, process.stdout.read()
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10).close()
                break
            except OSError:
                time.sleep(0.2)
        assert list(tmp_path.glob("csd-*"))
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, said
    assert not list(tmp_path.glob("csd-*")) and "Traceback" not in said
