"""Threads share heaps, counted by glibc itself."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from csd.web.heaps import giving_back, share_heaps

COUNT = """
import ctypes, sys, threading
from csd.web.heaps import give_back, giving_back, share_heaps
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


def test_memory_goes_back_after_a_race_and_not_after_each():
    now, given = [0.0], []
    watch = giving_back(lambda: given.append(now[0]), every=60.0, clock=lambda: now[0])
    for seconds in (10, 70, 80, 129, 131):
        now[0] = seconds
        seen = []
        for news in watch("v", None, None, iter(["first", "last"])):
            seen.append(news)
            assert now[0] not in given, "not during the race"
        assert seen == ["first", "last"]
    assert given == [70, 131]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have other heaps")
def test_memory_that_is_free_inside_a_heap_goes_back():
    code = """
import ctypes, gc
from csd.web.heaps import give_back
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
blocks = [libc.malloc(2**16) for _ in range(800)]
for block in blocks:
    ctypes.memset(block, 1, 2**16)
for block in blocks[:-1]:  # the last one keeps the heap from shrinking
    libc.free(block)
before = resident()
assert give_back()
print(before - resident())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 20 * 2**20
