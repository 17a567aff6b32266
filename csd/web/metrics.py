"""What a monitor reads at /metrics, in the format of Prometheus.

Races are watched from outside: `Metrics.watch` passes on what a race does and counts it on the way.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

import psutil
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response
from starlette.routing import Route

from csd.models import catalog
from csd.record import metrics
from csd.record.trace import Trace
from csd.request.request import Request
from csd.traffic.server import make_sampler
from csd.web.loads import FamilyChoice
from csd.web.news import Finished, News, RaceStream, Refused
from csd.web.one_at_a_time import one_at_a_time

SECONDS = (0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300)
SPEEDS = (5, 10, 20, 40, 80, 160, 320, 640, 1280)
CUSTOM = "custom"  # families and levels that visitors name themselves; a label for each would have no end
QueueWait = Callable[[str], "float | None"]
"""The seconds that a visitor's race, which begins now, was queued; None if it was not."""


class Metrics:
    """The counters of one page. `queue_length` is asked whenever they are read, `queue_wait` when a race begins."""

    def __init__(self, queue_length: Callable[[], int], queue_wait: QueueWait):
        self.registry = CollectorRegistry()
        self._queue_wait = queue_wait
        self._races = Counter("csd_races", "Races by how they ended", ["outcome"], registry=self.registry)
        self._seconds = Histogram(
            "csd_race_seconds", "From the beginning of a race to its end", buckets=SECONDS, registry=self.registry
        )
        self._queued = Histogram(
            "csd_queue_seconds", "Races in the queue before they begin", buckets=SECONDS, registry=self.registry
        )
        self._speed = Histogram(
            "csd_tokens_per_second", "Decoding speed of a lane", ["method"], buckets=SPEEDS, registry=self.registry
        )
        self._tokens = Counter("csd_tokens", "Generated tokens", ["method"], registry=self.registry)
        levels = ["family", "level"]
        self._proposed = Counter("csd_proposed_tokens", "Tokens shown to the target", levels, registry=self.registry)
        self._accepted = Counter("csd_accepted_tokens", "Those that it accepted", levels, registry=self.registry)
        self._errors = Counter("csd_errors", "Errors in the log of csd", ["logger"], registry=self.registry)
        running = Gauge("csd_queue_length", "Races that wait in the queue", registry=self.registry)
        running.set_function(queue_length)
        self._running = Gauge("csd_races_running", "Races that have begun", registry=self.registry)
        self.registry.register(_Server())

    def watch(self, visitor: str, choice: FamilyChoice, request: Request, news: RaceStream) -> RaceStream:
        """The same news, counted."""
        begin, outcome = time.monotonic(), "left"
        waited = self._queue_wait(visitor)
        if waited is not None:
            self._queued.observe(waited)
        self._running.inc()
        try:
            with closing(news):
                for item in news:
                    outcome = _outcome(item) or outcome
                    if isinstance(item, Finished):
                        self._count_lanes(item.race.traces)
                    yield item
        finally:
            self._running.dec()
            self._races.labels(outcome).inc()
            self._seconds.observe(time.monotonic() - begin)

    def error_counter(self) -> logging.Handler:
        """A handler of the log that counts its errors."""
        return _ErrorCounter(self._errors)

    def routes(self) -> list[Route]:
        measure = one_at_a_time(generate_latest)

        async def read(request: HTTPRequest) -> Response:
            return Response(await measure(self.registry), media_type=CONTENT_TYPE_LATEST)

        return [Route("/metrics", read)]

    def _count_lanes(self, traces: Iterable[Trace]) -> None:
        for trace in traces:
            method = trace.header.method
            self._tokens.labels(method).inc(len(trace.tokens))
            if trace.steps:
                self._speed.labels(method).observe(metrics.speed(trace))
            known = trace.header.family in {spec.name for spec in catalog.READY}
            for level, count in metrics.acceptance(trace).items():
                labels = (trace.header.family, level) if known else (CUSTOM, CUSTOM)
                self._proposed.labels(*labels).inc(count.proposed)
                self._accepted.labels(*labels).inc(count.accepted)


class _Server:
    """Memory, threads and files of this process and its workers."""

    def __init__(self) -> None:
        self._sample = make_sampler(psutil.Process())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        sample = self._sample(0.0)
        if sample is not None:
            yield GaugeMetricFamily("csd_memory_bytes", "Resident memory, workers included", value=sample.memory)
            yield GaugeMetricFamily("csd_threads", "Threads, workers included", value=sample.threads)
            yield GaugeMetricFamily("csd_open_files", "Open files, workers included", value=sample.files)


class _ErrorCounter(logging.Handler):
    def __init__(self, errors: Counter):
        super().__init__(logging.ERROR)
        self._errors = errors

    def emit(self, record: logging.LogRecord) -> None:
        self._errors.labels(record.name).inc()


def _outcome(item: News) -> str:
    """How a race ended with this news; empty if it goes on."""
    if isinstance(item, Finished):
        return "stopped" if item.race.stopped else "finished"
    return "refused" if isinstance(item, Refused) else ""
