"""Runs visitors against a page for some minutes. Importing this module lets gevent replace the standard library's
blocking calls, as locust does, so it belongs into a process of its own."""

# locust comes first, since it replaces them when it is imported.
from locust import User, constant_pacing, task  # isort: skip
from locust.env import Environment  # isort: skip

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from random import Random
from typing import Any

import gevent
import httpx

from csd.record.recording import bundled_recordings
from csd.traffic.protocol import API, Endpoint, read_endpoints
from csd.traffic.samples import LoadRun, Sample, ServerSample
from csd.traffic.server import Process, find_page, make_sampler
from csd.traffic.visit import Site, Visit, address_of
from csd.traffic.wishes import make_wish

ARRIVAL = 0.2  # seconds between two visitors at the beginning
MOST_WALKED = 4.0  # seconds after which a visitor who stops, reloads or leaves has done so
LOOKS = 1.0  # seconds between two looks of the onlooker, who loads the page and does nothing else


@dataclass(frozen=True)
class LoadPlan:
    """`pause` are the mean seconds between two actions of a visitor, `tokens` the most that a race asks for."""

    url: str
    visitors: int
    seconds: float
    pause: float
    tokens: int
    patience: float
    seed: int


def read_page(plan: LoadPlan, http: httpx.Client) -> dict[str, Endpoint]:
    """The page's events. Raises ValueError with a sentence if nothing answers there, or something else."""
    try:
        config, info = (http.get(path).raise_for_status().json() for path in ("/config", f"{API}/info"))
    except httpx.HTTPStatusError as error:
        raise ValueError(f"{plan.url} answers with status {error.response.status_code}. Check the address.") from error
    except httpx.HTTPError as error:
        raise ValueError(f"Nothing answers at {plan.url}: {error}. Start the page, or check the address.") from error
    return read_endpoints(config, info)


def run_load(plan: LoadPlan, machine: str, progress: Callable[[str], None]) -> LoadRun:
    """Raises ValueError with a sentence if there is no page at the address."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=plan.visitors)
    with httpx.HTTPTransport(limits=limits) as connections:  # of all visitors
        connect = partial(httpx.Client, base_url=plan.url, timeout=plan.patience, transport=connections)
        endpoints = read_page(plan, connect())
        process, whose = find_page(plan.url)
        begin = time.monotonic()
        samples: list[Sample] = []
        site = Site(connect, endpoints, lambda: time.monotonic() - begin, samples.append, plan.patience)
        environment = Environment(user_classes=[_visitor(site, plan), _onlooker(site)], stop_timeout=plan.patience)
        runner = environment.create_local_runner()
        watched: list[ServerSample] = []
        watching = gevent.spawn(_watch, process, site.clock, watched.append)
        runner.start(plan.visitors + 1, spawn_rate=1 / ARRIVAL)
        for tenth in range(1, 11):
            gevent.sleep(max(0.0, plan.seconds * tenth / 10 - site.clock()))
            progress(f"{site.clock():.0f} of {plan.seconds:.0f} s; {len(samples)} actions")
        seconds = site.clock()
        runner.quit()  # waits for what is under way
        watching.kill()
    server = tuple(one for one in watched if one.time <= seconds)
    return LoadRun(plan.url, plan.visitors, seconds, machine, tuple(samples), server, whose)


def _watch(process: Process | None, clock: Callable[[], float], report: Callable[[ServerSample], None]) -> None:
    sample = make_sampler(process) if process else None
    while sample and (found := sample(clock())):
        report(found)
        gevent.sleep(1)


def _visitor(site: Site, plan: LoadPlan) -> type[User]:
    """Visitors who mostly race on the page, and now and then do something else."""
    numbers = count(1)
    saved = min(bundled_recordings().values(), key=lambda recording: len(recording.to_gzip()))

    class Visitor(User):
        def __init__(self, environment: Any):
            super().__init__(environment)
            number = next(numbers)
            self.random = Random(plan.seed * 1_000_003 + number)
            self.visit = Visit(site, address_of(number))

        def wait_time(self) -> float:
            return self.random.uniform(0.5, 1.5) * plan.pause

        def on_start(self) -> None:
            self.visit.open()

        def on_stop(self) -> None:
            self.visit.close()

        def wish(self):
            return make_wish(self.random, next(numbers), plan.tokens)

        @task(12)
        def race(self) -> None:
            self.visit.race(self.wish())

        @task(4)
        def race_by_api(self) -> None:
            self.visit.race_by_api(self.wish())

        @task(1)
        def press_stop(self) -> None:
            self.visit.stop(replace(self.wish(), max_new=4 * plan.tokens), self.random.uniform(0, MOST_WALKED))

        @task(1)
        def reload(self) -> None:
            self.visit.walk_away("reload", self.wish(), self.random.uniform(0, MOST_WALKED))
            self.visit.open()
            self.visit.race(self.wish())

        @task(1)
        def leave(self) -> None:
            self.visit.walk_away("leave", self.wish(), self.random.uniform(0, MOST_WALKED))
            gevent.sleep(2 * plan.pause)
            self.visit.open()

        @task(1)
        def upload(self) -> None:
            note = f"Sent by visitor {next(numbers)}."
            self.visit.upload(replace(saved, note=note).to_gzip(), note)

    return Visitor


def _onlooker(site: Site) -> type[User]:
    """Somebody who looks at the page once a second, so that its own latency is known."""

    class Onlooker(User):
        fixed_count = 1
        wait_time = constant_pacing(LOOKS)

        @task
        def look(self) -> None:
            Visit(site, "2001:db8::").look()

    return Onlooker
