"""Recording example races: the command that makes them, and the notes it writes on them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import csd.models.family
from csd.cli import recorder
from csd.cli.commands import app
from csd.record.recording import SUFFIX, bundled
from csd.record.trace import Header, Level, Review, Step, Trace
from csd.run import LaneFinished, Request


def lane(method: str, seconds: float = 0.1) -> Trace:
    """Four tokens, one target pass of `seconds` each."""
    header = Header(
        method=method, label="", settings={}, family="toy", levels=(Level("target", 1),), prompt=(0,), text="The", max_new=4,
        eos=(), rule="greedy", temperature=0.0, top_k=0, top_p=1.0, seed=0, device="cpu", dtype="float32", versions={},
    )  # fmt: skip
    steps = tuple(
        Step((at,), ("target",), Review("target", at, (), (), 0, at, at * seconds, seconds), at * seconds, seconds)
        for at in range(1, 5)
    )
    return Trace(header, (), steps, "budget", {at: f" w{at}" for at in range(5)})


def test_the_note_is_what_was_measured():
    slower = recorder.note_of((lane("speculative", 0.1), lane("cascade", 0.2)))
    assert "slower than speculative decoding: 0.50 times" in slower
    assert "2.00 times as fast" in recorder.note_of((lane("speculative", 0.2), lane("cascade", 0.1)))
    assert "about as fast" in recorder.note_of((lane("speculative", 0.1), lane("adaptive cascade", 0.1)))
    assert recorder.note_of((lane("autoregressive", 0.1),)) == ""


def test_the_notes_of_the_recordings_that_come_with_the_project():
    for found in bundled().values():
        assert found.note == recorder.note_of(found.traces)


@pytest.fixture
def raced(monkeypatch):
    """The request of every race that `record` runs; nothing is loaded and nothing computes."""
    seen: list[Request] = []

    def race(family, request, stopped):
        seen.append(request)
        yield LaneFinished(1, lane("cascade"))
        yield LaneFinished(0, lane("autoregressive"))

    monkeypatch.setattr(recorder, "run_race", race)
    model = SimpleNamespace(spec=csd.models.family.find("embedded"), device="cpu", dtype="float32", notes=())
    monkeypatch.setattr(csd.models.family, "open_family", lambda *_, **__: model)
    return seen


def test_the_command_runs_every_take_once_warm_and_replaces_the_old_ones(raced, tmp_path):
    (tmp_path / f"9-old{SUFFIX}").write_bytes(b"")
    done = CliRunner().invoke(app, ["record", "--max-new", "48", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    found = bundled(tmp_path)
    assert [one.kind for one in found.values()] == [take.kind for take in recorder.TAKES]
    assert all(one.traces == (lane("autoregressive"), lane("cascade")) for one in found.values())
    assert [one.max_new for one in raced] == [recorder.WARM, 48] * len(recorder.TAKES)
    paper = raced[-1].methods
    assert (paper[1].k, paper[2].K) == (5, ((5, 19, 29), (0, 1, 11), (0, 0, 10)))
    assert "paper's K" in list(found.values())[-1].title
    names = [[method.name for method in one.methods] for one in raced]
    adaptive = ["autoregressive", "speculative", "adaptive cascade"]
    assert names == [adaptive] * (len(raced) - 2) + [["autoregressive", "speculative", "cascade"]] * 2
