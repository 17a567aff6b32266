"""Start the page: `python app.py`. It is served at once; the models load afterwards, one family after another."""

from __future__ import annotations

import argparse
import atexit
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

from csd.models import catalog
from csd.models.files import is_present
from csd.own_files import FAULTS, restore
from csd.paths import cache_folder
from csd.ranges import Range, quote
from csd.web.collecting import without_collecting
from csd.web.deployment import make_deployment
from csd.web.heaps import giving_back, share_heaps
from csd.web.homes import VARIABLE, home_families
from csd.web.listening import LOCAL, NAME, PORT, USUAL, bracketed, ports_to_try, read_port, why_not
from csd.web.loads import FamilyChoice
from csd.web.studio import Studio, default_studio, pooled_studio
from csd.workers.places import choose_places
from csd.workers.pool import WorkerPool
from csd.workers.replicas import ReplicaPool

ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows has but one
THREADS = Range("The number of threads", 1, 1024)
LOGS = ("text", "json")
DEVICES, WORKERS, REPLICAS = "CSD_DEVICES", "CSD_WORKERS", "CSD_REPLICAS"


def port(text: str) -> int:
    """Raises ArgumentTypeError with a sentence."""
    try:
        return read_port(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def threads(text: str) -> int:
    """Raises ArgumentTypeError with a sentence."""
    count = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text
    if fault := THREADS.fault(count):
        raise argparse.ArgumentTypeError(f"{fault}.")
    return int(count)


def log_format(text: str) -> str:
    """Raises ArgumentTypeError with a sentence: argparse compares only options with the choices, not variables."""
    if text not in LOGS:
        raise argparse.ArgumentTypeError(f"Choose {' or '.join(LOGS)}, not {quote(text)}, here or in CSD_LOG.")
    return text


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Cascade Speculative Drafting, live.")
    parser.add_argument("--host", help="address to listen on (default: GRADIO_SERVER_NAME, or 127.0.0.1)")
    parser.add_argument(
        "--port", type=port, help=f"port to listen on (default: the first free one from {PORT}, or from {USUAL[PORT]})"
    )
    parser.add_argument(
        "--family",
        metavar="NAME",
        default=os.environ.get(VARIABLE, ""),
        help=f"the only family to load at the start: {', '.join(spec.name for spec in catalog.READY)} (default: "
        f"{VARIABLE}, or embedded and behind it smollm2 where it is installed)",
    )
    parser.add_argument(
        "--public",
        action=argparse.BooleanOptionalAction,
        help="for a page that strangers can reach: tight limits, and only the families that are loaded at the start or "
        "named in CSD_FAMILIES (default: CSD_PUBLIC, or on a Space and wherever the page listens on more than this "
        "machine; docs/deploy.md has all limits)",
    )
    parser.add_argument(
        "--device", default="auto", help="auto, cpu, cuda, cuda:N, or split: the target over all GPUs (default: auto)"
    )
    parser.add_argument(
        "--devices",
        metavar="NAMES",
        default=os.environ.get(DEVICES, ""),
        help=f"GPUs such as cuda:0,cuda:1: a worker process and one race at a time on each (default: {DEVICES})",
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=int,
        default=os.environ.get(WORKERS) or None,
        help=f"so many worker processes, which share the CPU's cores out among them (default: {WORKERS})",
    )
    parser.add_argument(
        "--replicas",
        metavar="N",
        type=int,
        default=os.environ.get(REPLICAS) or None,
        help="so many replicas on the nodes of a Ray cluster, with a GPU of its own each where there is one; needs "
        f"ray[serve] (default: {REPLICAS})",
    )
    parser.add_argument(
        "--threads",
        type=threads,
        help="CPU threads for the models (default: all but one on up to 4 cores, otherwise all)",
    )
    parser.add_argument(
        "--metrics",
        action="store_true",
        default=bool(os.environ.get("CSD_METRICS")),
        help="serve metrics for Prometheus at /metrics (default: where CSD_METRICS is set)",
    )
    parser.add_argument(
        "--mcp",
        action="store_true",
        default=bool(os.environ.get("CSD_MCP")),
        help="serve the endpoint /race to agents over MCP; needs gradio[mcp] (default: where CSD_MCP is set)",
    )
    parser.add_argument(
        "--log",
        type=log_format,
        choices=LOGS,
        default=os.environ.get("CSD_LOG") or "text",
        help="json: races, and all else that is logged, as lines of JSON on standard error (default: CSD_LOG, or text)",
    )
    return parser


def make_studio(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> Studio:
    """Exits with a sentence if there is no such family or device, or if a limit in the environment is none."""
    try:
        limits = partial(make_deployment, os.environ, host_of(arguments), arguments.public)
        if is_on_zerogpu():
            from csd.web.zerogpu import zerogpu_studio

            return zerogpu_studio(arguments.family, limits)
        places = choose_places(arguments.devices, arguments.workers, arguments.threads)
        if places and arguments.device != "auto":
            raise ValueError("Give --device, or one of --devices and --workers.")
        if places and arguments.replicas:
            raise ValueError("Give --replicas, or one of --devices and --workers.")
        families = home_families(arguments.family, arguments.device, is_present)
        deployment = limits(families)
        if arguments.replicas:
            return pooled_studio(make_replicas(arguments, families), deployment, *families)
    except ValueError as error:
        parser.error(str(error))
    return pooled_studio(WorkerPool(places), deployment, *families) if places else default_studio(deployment, *families)


def host_of(arguments: argparse.Namespace) -> str:
    return bracketed(arguments.host or os.environ.get(NAME) or LOCAL)


def check_address(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Exit with a sentence where the page cannot listen."""
    try:
        ports = ports_to_try(arguments.port, os.environ)
    except ValueError as error:
        parser.error(str(error))
    if sentence := why_not(host_of(arguments), ports, os.environ):
        parser.exit(1, f"{sentence}\n")


def name_host(arguments: argparse.Namespace) -> None:
    """Let Gradio, once it is imported, listen on an IPv6 address: it takes none from its variable."""
    arguments.host = host_of(arguments)
    if ":" in os.environ.get(NAME, ""):
        del os.environ[NAME]


def make_replicas(arguments: argparse.Namespace, families: Sequence[FamilyChoice]) -> ReplicaPool:
    """Raises ValueError with a sentence."""
    if find_spec("ray") is None:
        raise ValueError(
            f"--replicas (or {REPLICAS}) needs the package ray. Install it with: pip install -r requirements-ray.txt"
        )
    if arguments.replicas < 1 or arguments.device not in ("auto", "cpu", "cuda"):
        raise ValueError("--replicas needs a number of at least 1, and auto, cpu or cuda as the device.")
    from csd.workers.ray_serve import open_replicas

    on_gpus = {"cpu": False, "cuda": True}.get(arguments.device)
    homes = [(choice.spec, choice.device, choice.dtype) for choice in families]
    return open_replicas(arguments.replicas, homes, on_gpus, arguments.threads or 1)


def is_on_zerogpu() -> bool:
    """Whether this is a Space that borrows a GPU for each race; the Hub says so."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "t", "true")


def set_threads(count: int | None) -> None:
    """Set the models' CPU threads; call it before torch is imported.

    By default one core of up to four is left to the browser: drawing on the same cores keeps halting all threads of a
    model. A Space is watched from another machine.
    """
    cores = os.cpu_count() or 1
    if count:
        os.environ["OMP_NUM_THREADS"] = str(count)
    elif cores <= 4 and "SPACE_ID" not in os.environ:
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores - 1)))


@contextmanager
def own_files(parser: argparse.ArgumentParser) -> Iterator[None]:
    """Exit with a sentence where a script, a style sheet or another file of the page is missing or damaged."""
    try:
        yield
    except FAULTS as fault:
        parser.exit(1, f"The page cannot start. {restore(fault)}\n")


def main(argv: list[str] | None = None) -> None:
    parser = make_parser()
    arguments = parser.parse_args(argv)
    check_address(parser, arguments)
    name_host(arguments)
    share_heaps()
    set_threads(arguments.threads)
    copies = TemporaryDirectory(prefix="csd-gradio-", ignore_cleanup_errors=True)  # Gradio's, of files
    os.environ.setdefault("GRADIO_TEMP_DIR", copies.name)
    studio = make_studio(parser, arguments)
    end_by_signals()
    try:
        serve(parser, arguments, studio)
    except KeyboardInterrupt:
        parser.exit()


def serve(parser: argparse.ArgumentParser, arguments: argparse.Namespace, studio: Studio) -> None:
    """Until the process is interrupted. Exits with a sentence if the page cannot start."""
    # Importing Gradio takes seconds; wrong arguments are reported before that.
    if arguments.mcp and find_spec("mcp") is None:
        parser.error("--mcp (or CSD_MCP) needs the package mcp. Install it with: pip install -r requirements-mcp.txt")
    with without_collecting():
        with own_files(parser):
            from csd.web.gradio_queue import is_stopped, open_queue_of
            from csd.web.guard import warn_of_any_name
            from csd.web.health import health_routes
            from csd.web.log_faults import log_warnings, replace_tracebacks
            from csd.web.observing import count_races, log_as_json, log_as_text
            from csd.web.page import build, launch_settings
            from csd.web.rare_warnings import thin_out_warnings
            from csd.web.slow_clients import close_slow_connections

            links = None if studio.deployment.is_public else cache_folder() / "links"
            page = open_queue_of(studio, build(studio, links))
        routes = health_routes(studio.families, studio.home, partial(is_stopped, page))
        if arguments.metrics:
            routes += count_races(studio, page)
        where = {"server_name": arguments.host, "server_port": arguments.port}
        try:
            page.launch(
                **where,
                mcp_server=arguments.mcp or None,
                prevent_thread_lock=True,
                **launch_settings(studio.deployment, routes),
            )
        except OSError as error:
            check_address(parser, arguments)  # another program may have come first
            parser.exit(1, f"The page cannot start. {error}\n")
    close_slow_connections(page.server.config)
    replace_tracebacks()
    log_warnings()
    thin_out_warnings()
    log_as_json(studio) if arguments.log == "json" else log_as_text()
    warn_of_any_name(studio.deployment)
    studio.watch(giving_back())
    studio.families.preload()
    try:
        while page.is_running:
            time.sleep(0.1)
    finally:
        close(studio, page)


def close(studio: Studio, page: Any) -> None:
    """Stop what runs, answer those who wait for it, and close the server.

    If a thread is still inside PyTorch then, the process ends here: the interpreter would abort as it ends the thread.
    """
    for number in (signal.SIGINT, *ENDING):
        signal.signal(number, signal.SIG_IGN)
    has_ended = studio.close()
    page.app.stop_event.set()  # of the heartbeats; `page.close` would cut off the answers as well
    page.server.close()
    if not has_ended:
        atexit._run_exitfuncs()  # temporary files, worker processes
        sys.stdout.flush()
        os._exit(0)


def end_by_signals() -> None:
    """But not by one that was ignored from the beginning: `nohup` lets the page outlive its terminal so."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(*_: Any) -> None:
    """Ending a container, or closing a terminal, is as clean as Ctrl+C: the server closes, and temporary files are
    deleted."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
