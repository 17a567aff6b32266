"""Threads share heaps, counted by glibc itself."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from csd.web.heaps import share_heaps

COUNT = """
import ctypes, sys, threading
from csd.web.heaps import share_heaps
print(share_heaps() if sys.argv[1] == "shared" else None)
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
met = threading.Barrier(8)
def fill():
    met.wait()
    kept.append([bytes(50_000) for _ in range(20)])
    met.wait()
kept = []
threads = [threading.Thread(target=fill) for _ in range(8)]
[one.start() for one in threads], [one.join() for one in threads]
told = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, told), libc.fclose(told)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="heaps of other C libraries")
def test_eight_threads_share_two_heaps(tmp_path):
    found = {}
    for how in ("shared", "usual"):
        told = tmp_path / how
        environment = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"}
        command = [sys.executable, "-c", COUNT, how, str(told)]
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert said.strip() == {"shared": "True", "usual": "None"}[how]
        found[how] = told.read_text().count("<heap nr=")
    assert found["shared"] <= 2 < found["usual"]


def test_who_has_chosen_is_left_alone(monkeypatch):
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    assert not share_heaps()
