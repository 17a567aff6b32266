"""The pool over a cluster in this process, whose replicas are real ones over fake workers."""

from __future__ import annotations

import queue
import socket
import threading
from dataclasses import dataclass, field, replace
from functools import partial

import fake_workers
import pytest
from long_race import HOME, LongRace, race, until

from csd.decoding.errors import Refusal
from csd.request.request import Request
from csd.web.deployment import Deployment
from csd.web.loads import FamilyChoice
from csd.web.news import Batch, Finished, Refused, Waiting
from csd.web.studio import pooled_studio
from csd.workers.outcome import Outcome, outcome_of
from csd.workers.process import WorkerDied
from csd.workers.replica import Replica
from csd.workers.replicas import BUSY, STARTING, ReplicaPool, check_address, replica_resources

NAME = (HOME.spec, HOME.device, HOME.dtype)


@dataclass
class Threads:
    """A cluster whose replicas are threads. `dying` fails the next call; `most` is how many calls were under way."""

    replicas: list[Replica]
    started: int
    dying: bool = False
    calls: list[str] = field(default_factory=list)
    most: int = 0

    def running(self) -> int:
        if self.started < 0:
            raise Refusal("Ray Serve could not start the replicas.")
        return self.started

    def call(self, method, *arguments, stopped=lambda: False):
        if self.dying:
            raise WorkerDied("The replica has ended.")
        self.calls.append(method)
        self.most = max(self.most, len(self.calls))
        replica, over, news = self.replicas.pop(), threading.Event(), queue.SimpleQueue()
        work = partial(getattr(replica, method), news.put, lambda: over.is_set() or stopped(), *arguments)
        thread = threading.Thread(target=lambda: news.put(outcome_of(work, method)))
        thread.start()
        try:
            while not isinstance(one := news.get(), Outcome):
                yield one
            one.check()
        finally:
            over.set()
            thread.join()
            self.replicas.append(replica)
            self.calls.pop()


@pytest.fixture
def cluster():
    return Threads([Replica([NAME], fake_workers.make_worker()) for _ in range(2)], started=2)


@pytest.fixture
def studio(cluster):
    return pooled_studio(ReplicaPool(2, cluster), Deployment(), HOME)


def test_two_races_at_a_time_and_the_third_waits(studio, cluster):
    assert studio.races_at_a_time == 2
    assert isinstance(race(studio, "short")[-1], Finished)
    assert studio.families.status(HOME).sentence == "Ready: demo models, 2 × CPU, fp32"
    races = [LongRace(studio, name) for name in "ab"]
    until(lambda: all(one.pid for one in races))
    third = studio.race("c", HOME, Request("short", ()))
    assert next(third) == Waiting(BUSY)
    assert studio.visitors.stop("a")
    assert isinstance(list(third)[-1], Finished)
    assert races[0].end().race.stopped and races[1].is_alive()
    assert studio.visitors.stop("b") and races[1].end().race.stopped
    assert cluster.most == 2 and not cluster.calls


def test_a_race_waits_while_replicas_start_and_can_be_stopped_meanwhile(studio, cluster):
    assert isinstance(race(studio, "short")[-1], Finished)
    cluster.started = 0
    early = studio.race("a", HOME, Request("short", ()))
    assert next(early) == Waiting(STARTING)
    cluster.started = 1
    assert isinstance(list(early)[-1], Finished)
    cluster.started = 0
    given_up = studio.race("a", HOME, Request("short", ()))
    assert next(given_up) == Waiting(STARTING)
    assert studio.visitors.stop("a")
    assert list(given_up)[-1] == Refused("Stopped before it started.")


def test_a_replica_that_dies_loses_its_race_and_no_other(studio, cluster):
    assert isinstance(race(studio, "short")[-1], Finished)
    long = LongRace(studio, "a")
    until(lambda: long.pid)
    cluster.dying = True
    sentence = (
        "The replica has ended. The race is lost, your prompt is not. The cluster starts a new replica: race again."
    )
    assert race(studio, "short")[-1] == Refused(sentence)
    other = FamilyChoice(HOME.spec, dtype="float64")
    assert race(studio, "short", other)[-1] == Refused("demo models did not load. The replica has ended.")
    cluster.dying = False
    assert isinstance(race(studio, "short")[-1], Finished)
    assert studio.visitors.stop("a") and long.end().race.stopped


def test_replicas_that_cannot_start_are_a_sentence(cluster, studio):
    cluster.started = -1
    assert race(studio, "short")[-1] == Refused("demo models did not load. Ray Serve could not start the replicas.")
    cluster.started = 2
    assert isinstance(race(studio, "short")[-1], Finished)
    cluster.started = -1
    assert race(studio, "short")[-1] == Refused("Ray Serve could not start the replicas.")


def test_a_closed_stream_frees_its_replica(studio):
    for _ in range(3):
        stream = studio.race("gone", HOME, Request("long", ()))
        next(news for news in stream if isinstance(news, Batch) and news.events)
        stream.close()
    assert isinstance(race(studio, "short")[-1], Finished)


def test_a_replica_keeps_its_homes_and_one_more_and_compiles_while_it_loads(tmp_path):
    loads, told = [], []

    def load(spec, *arguments):
        loads.append(spec.about)
        return fake_workers.load(spec, *arguments)

    worker = fake_workers.RaceWorker(load, fake_workers.run, fake_workers.compile_steps)
    replica = Replica([NAME], worker)
    names = [(replace(HOME.spec, about=str(tmp_path / name)), "auto", "auto") for name in "ab"]
    replica.load(told.append, bool, names[0])
    assert told[:-1] == ["reading weights", "compiling 0 of 2", "compiling 1 of 2"]
    assert told[-1].notes[-1] == "Compiled." and not told[-1].next_step
    for name in (NAME, names[0], NAME, names[1], NAME, names[0]):
        events: list = []
        replica.race(events.append, bool, name, Request("short", ()))
        assert len(events) == 2
    assert loads == [spec.about for spec, *_ in (NAME, names[0], names[1], names[0])]
    assert len(worker._families) == 2


def test_a_home_that_does_not_load_is_tried_again_for_whoever_asks():
    refused = (replace(HOME.spec, about="refused"), "auto", "auto")
    replica = Replica([refused], fake_workers.make_worker())
    for _ in range(2):
        with pytest.raises(Refusal, match="It needs 17 GiB"):
            replica.race(print, bool, refused, Request("short", ()))


def test_each_replica_has_a_gpu_where_there_are_enough():
    assert replica_resources({"CPU": 8, "GPU": 2}, 2, 1, None) == {"num_cpus": 1, "num_gpus": 1}
    assert replica_resources({"CPU": 8, "GPU": 2}, 3, 2, None) == {"num_cpus": 2, "num_gpus": 0}
    assert replica_resources({"CPU": 8, "GPU": 2}, 2, 1, False) == {"num_cpus": 1, "num_gpus": 0}
    with pytest.raises(
        ValueError, match="3 replicas need 3 GPUs, and the cluster has 2. Ask for fewer, or add a node."
    ):
        replica_resources({"CPU": 8, "GPU": 2}, 3, 1, True)
    with pytest.raises(ValueError, match="2 replicas need 2 CPUs, and the cluster has 0."):
        replica_resources({}, 2, 1, None)


def test_a_cluster_that_does_not_answer_is_a_sentence_at_once():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        check_address(address)
    with pytest.raises(ValueError, match=rf"No Ray cluster answers at {address}\. Start one with.*RAY_AUTH_MODE"):
        check_address(address)
    check_address("auto")  # Ray finds out what that is
