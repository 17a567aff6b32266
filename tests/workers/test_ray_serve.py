"""Two replicas that Ray Serve runs on this machine, over families and races that take no time."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import fake_workers
import pytest
from long_race import HOME, LongRace, race, until

from csd.request.request import Request
from csd.web.deployment import Deployment
from csd.web.loads import FamilyChoice
from csd.web.news import Batch, Finished, Refused
from csd.web.studio import pooled_studio

pytest.importorskip("ray", reason="needs the extra ray: pip install -r requirements-ray.txt")
pytestmark = pytest.mark.slow
SPEC = HOME.spec


@pytest.fixture(scope="module")
def studio():
    import ray

    from csd.workers.ray_serve import open_replicas

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(fake_workers.__file__).parent))
        pool = open_replicas(2, [(SPEC, HOME.device, HOME.dtype)], make_worker=fake_workers.make_worker)
    yield pooled_studio(pool, Deployment(), HOME)
    ray.shutdown()


def test_two_races_at_a_time_and_one_replica_killed_in_mid_race(studio):
    assert isinstance(race(studio, "short")[-1], Finished)
    races = [LongRace(studio, name) for name in "ab"]
    until(lambda: all(one.pid for one in races))
    assert races[0].pid != races[1].pid
    os.kill(races[0].pid, signal.SIGKILL)
    end = races[0].end()
    assert isinstance(end, Refused)
    assert "The race is lost, your prompt is not. The cluster starts a new replica: race again." in end.sentence
    again = race(studio, "short")[-1]  # on the new replica: the other one races
    assert isinstance(again, Finished)
    assert int(again.race.recording.machine) not in {one.pid for one in races}
    assert races[1].is_alive() and studio.visitors.stop("b") and races[1].end().race.stopped


def test_a_stream_that_is_closed_frees_its_replica(studio):
    for _ in range(3):  # more than there are replicas
        stream = studio.race("gone", HOME, Request("long", ()))
        next(news for news in stream if isinstance(news, Batch) and news.events)
        stream.close()
    assert isinstance(race(studio, "short")[-1], Finished)


def test_errors_of_a_replica_are_sentences(studio):
    assert race(studio, "refused")[-1] == Refused("The prompt is empty.")
    error = "The race failed: KeyError: 'a key'. Try again, or change the settings."
    assert race(studio, "breaks")[-1] == Refused(error)
    unknown = FamilyChoice(replace(SPEC, about="refused"))
    assert race(studio, "short", unknown)[-1] == Refused("demo models did not load. It needs 17 GiB.")
