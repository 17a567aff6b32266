"""Replicas on a Ray cluster: a Ray Serve deployment of `csd.workers.replica`, whose calls come back as streams.

Importing this needs the extra `ray`. Serve places the replicas on the nodes, starts them again when they die, and sends
each call to one that is free. Nothing is served over HTTP but the page, in the process that calls `open_replicas`.
"""

from __future__ import annotations

import asyncio
import atexit
import itertools
import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import ray  # pyright: ignore[reportMissingImports]
from ray import serve  # pyright: ignore[reportMissingImports]
from ray.exceptions import RayError  # pyright: ignore[reportMissingImports]
from ray.serve.exceptions import RayServeException  # pyright: ignore[reportMissingImports]

from csd.decoding.errors import Refusal
from csd.models.messages import first_line
from csd.paths import ROOT
from csd.workers.outcome import Outcome, outcome_of
from csd.workers.process import WorkerDied
from csd.workers.replica import FamilyName, Replica
from csd.workers.replicas import ALONE, UNREACHABLE, ReplicaPool, check_address, replica_resources
from csd.workers.worker import RaceWorker

NAME = "csd"  # of the application on the cluster
LOOK = 0.05  # seconds between two looks at whether a call was stopped
BATCH = 0.05  # seconds of news in one message
HEALTH = 2  # seconds between two looks of Serve at a replica
FAULTS = (RayError, RayServeException)

log = logging.getLogger(__name__)


class Racer:
    """What Serve runs as a replica: a call is a stream of batches, the last item of which is an Outcome."""

    def __init__(self, homes: Sequence[FamilyName], make_worker: Callable[[], RaceWorker]):
        self._replica = Replica(homes, make_worker())

    def call(self, method: str, arguments: tuple[Any, ...], stop: list[Any]) -> Iterator[list[Any]]:
        """`stop` holds a reference that is resolved once the call is to end soon, or fails once the page is gone."""
        news, stopped = queue.SimpleQueue(), threading.Event()
        threading.Thread(target=_wait, args=(stop[0], stopped), daemon=True).start()
        work = partial(getattr(self._replica, method), news.put, stopped.is_set, *arguments)
        threading.Thread(target=lambda: news.put(outcome_of(work, method)), name=method, daemon=True).start()
        batch: list[Any] = []
        while not batch or not isinstance(batch[-1], Outcome):
            batch = [news.get()]
            time.sleep(BATCH)
            while not news.empty():
                batch.append(news.get())
            yield batch


def _wait(reference: Any, stopped: threading.Event) -> None:
    try:
        ray.get(reference)
    except RayError as error:
        log.warning("the page is gone: %s", type(error).__name__)
    stopped.set()


class Stops:
    """Lets a page tell a replica that is busy to stop: `wait` returns once `stop` is called. It ends with the page."""

    def __init__(self) -> None:
        self._events: dict[int, asyncio.Event] = {}

    async def wait(self, number: int) -> None:
        await self._events.setdefault(number, asyncio.Event()).wait()

    async def stop(self, number: int) -> None:
        self._events.pop(number, asyncio.Event()).set()


class RayCluster:
    """The replicas that Serve runs, for the pool (`csd.workers.replicas.Cluster`)."""

    def __init__(self, handle: Any):
        self._call = handle.options(stream=True).call
        self._stops = ray.remote(Stops).options(num_cpus=0).remote()
        self._numbers = itertools.count()

    def running(self) -> int:
        """How many replicas Serve calls running. Raises Refusal if it has given up."""
        try:
            application = serve.status().applications.get(NAME)
        except FAULTS as error:  # of the controller, which Ray starts again
            log.warning("%s", error)
            return 0
        if application is None:
            return 0
        if application.status == "DEPLOY_FAILED":
            said = "\n".join(one.message for one in application.deployments.values()).strip() or application.message
            raise Refusal(f"Ray Serve could not start the replicas: {said.splitlines()[-1]}")
        return sum(one.replica_states.get("RUNNING", 0) for one in application.deployments.values())

    def call(
        self, method: str, *arguments: Any, stopped: Callable[[], bool] = lambda: False
    ) -> Generator[Any, None, None]:
        """What a method of Replica sends, until it ends. Raises WorkerDied, or as `Outcome.check`.

        Closing the stream stops the call and waits for its end.
        """
        number, ended = next(self._numbers), threading.Event()
        waiting = self._stops.wait.remote(number)
        stream = self._call.remote(method, arguments, [waiting])
        threading.Thread(target=self._pass_on, args=(number, stopped, ended), daemon=True).start()
        try:
            for one in itertools.chain.from_iterable(stream):
                if isinstance(one, Outcome):
                    one.check()
                else:
                    yield one
        except GeneratorExit:
            ended.set()
            with suppress(*FAULTS):
                for _ in stream:
                    pass
            raise
        except FAULTS as error:
            log.warning("%s", error)
            raise WorkerDied("The replica has ended.") from error
        finally:
            ended.set()

    def _pass_on(self, number: int, stopped: Callable[[], bool], ended: threading.Event) -> None:
        """Stop the call once `stopped()` is true, and at its end, when that only lets the replica's thread end."""
        while not ended.wait(LOOK) and not stopped():
            pass
        self._stops.stop.remote(number)


def open_replicas(
    count: int,
    homes: Sequence[FamilyName],
    on_gpus: bool | None = None,
    cpus: int = 1,
    make_worker: Callable[[], RaceWorker] = RaceWorker,
) -> ReplicaPool:
    """Replicas on the cluster that RAY_ADDRESS names, or else on this machine alone.

    Resources as in `replica_resources`. Returns once Ray runs, before the replicas do. Raises ValueError with a
    sentence if the cluster does not answer or is too small.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    address = os.environ.get("RAY_ADDRESS", "").strip() or ALONE  # not the cluster that /tmp/ray remembers
    check_address(address)
    environment = {"env_vars": {"PYTHONPATH": path}}
    try:
        ray.init(address, namespace=NAME, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    except (RayError, OSError, RuntimeError, ValueError) as error:
        alone = f"Ray cannot be started on this machine: {first_line(error)}"
        raise ValueError(alone if address == ALONE else UNREACHABLE.format(address)) from error
    resources = replica_resources(ray.cluster_resources(), count, cpus, on_gpus)
    racer = serve.deployment(Racer).options(
        num_replicas=count,
        max_ongoing_requests=1,
        health_check_period_s=HEALTH,
        graceful_shutdown_timeout_s=HEALTH,
        ray_actor_options=resources,
        logging_config={"enable_access_log": False},
    )
    serve.start(proxy_location="Disabled")
    application = racer.bind(tuple(homes), make_worker)
    target = serve.RunTarget(application, name=NAME, route_prefix=None)
    [handle] = serve.run_many([target], wait_for_applications_running=False)
    atexit.register(_close)
    return ReplicaPool(count, RayCluster(handle))


def _close() -> None:
    """A cluster that outlives the page keeps no replicas of it."""
    if ray.is_initialized():
        serve.delete(NAME)
