"""Which process is watched: the page's, and not that of a proxy in front of it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from importlib.util import find_spec

import psutil
import pytest
from browser import free_port

from csd.traffic.server import describe, find_server, is_python

# Importing csd.traffic.run replaces the blocking calls of a whole process.
FIND = """
import json, sys
from csd.traffic.server import find_page
process, said = find_page(sys.argv[1])
print(json.dumps([process and process.pid, said]))
"""
LISTEN = """
use IO::Socket::INET;
$listening = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => shift, Listen => 1) or die;
$| = 1; print 'up'; sleep 60;
"""


def find_page(url: str) -> tuple[int | None, str]:
    done = subprocess.run([sys.executable, "-c", FIND, url], capture_output=True, text=True, timeout=120, check=True)
    return tuple(json.loads(done.stdout))


def test_a_page_is_found_and_named():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        found = find_server(url)
        assert found is not None and found.pid == os.getpid() and is_python(found)
        assert describe(found).startswith(f"process {os.getpid()}, python")


@pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")
def test_a_proxy_is_not_taken_for_the_page():
    port = free_port()
    proxy = subprocess.Popen(["perl", "-e", LISTEN, str(port)], stdout=subprocess.PIPE)
    try:
        assert proxy.stdout is not None and proxy.stdout.read(2) == b"up"
        found = find_server(f"http://127.0.0.1:{port}")
        assert found is not None and found.pid == proxy.pid and not is_python(found)
        if find_spec("locust") is not None:
            pid, said = find_page(f"http://127.0.0.1:{port}")
            assert pid is None and "is not the page" in said and "perl" in said
    finally:
        proxy.kill()
        proxy.wait()


def test_a_process_of_somebody_else_is_not_taken_for_the_page(monkeypatch):
    def denied(self):
        raise psutil.AccessDenied(self.pid)

    monkeypatch.setattr(psutil.Process, "exe", denied)
    assert not is_python(psutil.Process())
