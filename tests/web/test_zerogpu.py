"""Races on a GPU that is lent for each of them: what crosses the border, and how a race ends; with `spaces`, for real."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import gradio as gr
import pytest
from test_packaging import ROOT, requirements

from csd.decoding.errors import Refusal
from csd.decoding.methods import AdaptiveCascade, Autoregressive
from csd.models import catalog, lent
from csd.record.trace import Header, Trace
from csd.request.request import Request
from csd.run import LaneFinished, RaceStarted
from csd.web import zerogpu
from csd.web.loads import FamilyChoice
from csd.web.news import Finished, Refused

FAMILY = SimpleNamespace(spec=catalog.find("embedded"))
PLACED = {"embedded": FAMILY}
REQUEST = Request("a prompt", (Autoregressive(), AdaptiveCascade(("small",))), max_new=100)
HEADER = Header("autoregressive", "", {}, "", (), (1,), "a", 1, (), "greedy", 0, 0, 1, 0, "cuda", "bfloat16", {})


def here(duration):
    """What the decorator does where there is no ZeroGPU."""
    return lambda function: function


def border(duration):
    """Pickles what goes in and what comes out, as a process of its own does."""

    def decorate(function):
        def across(*arguments):
            for item in function(*pickle.loads(pickle.dumps(arguments))):
                yield pickle.loads(pickle.dumps(item))

        return across

    return decorate


@pytest.fixture(autouse=True)
def no_measuring(monkeypatch, request):
    if "real" not in request.node.name:
        monkeypatch.setattr(lent, "measured", lambda family: family)


def endless(family, request, stopped):
    yield RaceStarted((HEADER,), {}, "A card")
    while not stopped():
        yield RaceStarted((), {})
    yield LaneFinished(0, Trace(HEADER, (), (), "stopped", {}))


def test_a_stopped_race_brings_its_lanes_and_says_whose_gpu_it_was():
    race = zerogpu.race_on_lent_gpu(PLACED, border, endless)
    seen: list = []
    for _ in range(2):  # the flag of the first race does not stop the second
        seen.clear()
        for event in race(FAMILY, REQUEST, lambda: len(seen) > 5):
            seen.append(event)
        assert len(seen) > 5
    assert seen[0].machine == "shared (ZeroGPU): A card"
    assert seen[0].headers[0].device == "cuda, shared (ZeroGPU)"
    assert (seen[-1].trace.end, seen[-1].trace.header.device) == ("stopped", "cuda, shared (ZeroGPU)")


def test_a_refusal_crosses_the_border_as_its_sentence():
    def refusing(family, request, stopped):
        raise Refusal("The prompt is empty.")
        yield

    with pytest.raises(Refusal, match=r"The prompt is empty\."):
        list(zerogpu.race_on_lent_gpu(PLACED, border, refusing)(FAMILY, REQUEST, lambda: False))


def test_a_spent_quota_is_a_sentence():
    def without_gpu(duration):
        def lend(name, request):
            raise gr.Error("You have exceeded your quota.", title="ZeroGPU quota exceeded", print_exception=False)
            yield

        return lambda function: lend

    with pytest.raises(Refusal, match=r"ZeroGPU quota exceeded: You have exceeded your quota\."):
        list(zerogpu.race_on_lent_gpu(PLACED, without_gpu, endless)(FAMILY, REQUEST, lambda: False))


def test_the_seconds_asked_for_grow_with_the_tokens_up_to_a_limit():
    asked = []

    def decorate(duration):
        asked.append(duration)
        return lambda function: function

    zerogpu.race_on_lent_gpu(PLACED, decorate)
    assert asked[0]("embedded", REQUEST) == zerogpu.START + 2 * 100 * zerogpu.TOKEN
    assert asked[0]("embedded", Request("p", REQUEST.methods * 2, max_new=2000)) == zerogpu.MOST


@pytest.mark.slow
def test_a_real_race_over_placed_models():
    """In the no-op mode: loaded without running anything, measured once, and every lane's text is the same."""
    studio = zerogpu.make_studio([catalog.find("embedded")], here)
    placed = studio.families._load_family(studio.home.spec, "", "", print)
    assert placed.costs == {} and lent.NOTE in placed.notes and str(placed.dtype) == "bfloat16"
    studio.families.ensure_loading(studio.home)
    request = Request("Once upon a time there was a", REQUEST.methods, max_new=8)
    *_, last = studio.race("visitor", studio.home, request)
    assert isinstance(last, Finished), last
    one, other = last.race.traces
    assert len(one.tokens) == 8 and one.tokens == other.tokens
    *_, last = studio.race("visitor", FamilyChoice(catalog.find("Qwen3")), request)
    assert isinstance(last, Refused) and "has only embedded" in last.sentence


@pytest.mark.slow
@pytest.mark.skipif(find_spec("spaces") is None, reason="the package spaces is not installed")
def test_a_space_with_the_emulated_gpu_in_a_real_worker_process():
    """Placed before the launch, run in the forked worker, counted against the visitor whose token the request had."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "GRADIO_ANALYTICS_ENABLED": "False", "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    command = [sys.executable, str(ROOT / "tests" / "zerogpu_space.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=180, check=False)
    found = next((line for line in done.stdout.splitlines() if line.startswith('{"devices"')), None)
    assert found, done.stdout + done.stderr
    told = json.loads(found)
    assert told["devices"] == ["cuda:0"], "models are placed while the GPU is emulated"
    assert len(told["texts"]) == 2 and len(set(told["texts"])) == 1 and told["texts"][0]
    assert told["device"] == "cuda, shared (ZeroGPU)"
    assert "tokens" in told["refused"]
    asked = dict(told["asked"])
    assert {"/startup-report", "/schedule", "/allow", "/release"} <= asked.keys()
    schedule = next(query for path, query in told["asked"] if path == "/schedule")
    assert schedule["token"] == ["visitor.e30.sign"]
    assert schedule["durationSeconds"] == ["21"]


def head(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8").split("---\n")[1].split("preload_from_hub")[0]


def test_the_files_of_the_zerogpu_space_follow_those_of_the_project():
    """They differ in what ZeroGPU needs: one of its versions of Python and of PyTorch, and `spaces`."""
    own = head("README.md").replace('python_version: "3.11"', 'python_version: "3.12"')
    assert own.replace("suggested_hardware: cpu-basic", "suggested_hardware: zero-a10g") == head(
        "docs/spaces/zerogpu/README.md"
    )
    expected = requirements("requirements.txt") | {"torch": "==2.11.0", "spaces": ">=0.51,<1"}
    assert requirements("docs/spaces/zerogpu/requirements.txt") == expected
    readme = (ROOT / "docs" / "spaces" / "zerogpu" / "README.md").read_text(encoding="utf-8")
    loaded = {model.id for name in zerogpu.FAMILIES for model in catalog.find(name).models if "assets" not in model.id}
    assert set(re.findall(r"^  - (\S+) config", readme, re.MULTILINE)) == loaded
    assert "https://arxiv.org/abs/2312.11462" in readme
