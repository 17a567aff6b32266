"""The server's processes, watched from outside where they run on this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from psutil import Process

from csd.traffic.samples import ServerSample

NO_PAGE = (
    "What listens at the address is not the page ({}), so its memory is not shown. Give the page's own address "
    "where that is wanted."
)


def find_server(url: str) -> Process | None:
    """The process on this machine that listens at an address; None if it is elsewhere, or somebody else's."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if parts.hostname not in ("127.0.0.1", "localhost", "::1", "0.0.0.0"):
        return None
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in process.net_connections()):
                return process
    return None


def is_python(process: Process) -> bool:
    """Whether a process runs Python, as the page does and proxies do not."""
    try:
        return "python" in Path(process.exe()).name.lower()
    except psutil.Error:  # somebody else's
        return False


def describe(process: Process) -> str:
    """Such as "process 123, python app.py"."""
    try:
        command = process.cmdline()
        name = Path(command[0]).name if command else process.name()
    except psutil.Error:
        return f"process {process.pid}"
    return f"process {process.pid}, {' '.join((name, *command[1:]))[:80]}"


def find_page(url: str) -> tuple[Process | None, str]:
    """The process to watch, and a sentence: which it is, or why there is none."""
    process = find_server(url)
    if process is None:
        return None, "No process of this machine that can be watched listens at the address."
    if not is_python(process):
        return None, NO_PAGE.format(describe(process))
    return process, f"Of {describe(process)}, with its children."


def make_sampler(process: Process) -> Callable[[float], ServerSample | None]:
    """A function that samples the process with its children, at a time of the run; None once it is gone."""
    known: dict[int, Process] = {}

    def sample(time: float) -> ServerSample | None:
        try:
            family = [process, *process.children(recursive=True)]
            process.memory_info()
        except psutil.Error:
            return None
        memory = threads = files = 0
        cpu = 0.0
        for one in family:
            same = known.setdefault(one.pid, one)  # a process measures its CPU since the last call on the same object
            with contextlib.suppress(psutil.Error):
                memory += same.memory_info().rss
                threads += same.num_threads()
                files += same.num_fds()
                cpu += same.cpu_percent() / 100
        return ServerSample(time, memory, threads, files, cpu)

    return sample
