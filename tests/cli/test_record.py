"""`csd record`: the races that it runs, the files that it writes, and the note on each race."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import pytest
from cli_traces import make_trace

from csd.cli import recorder
from csd.decoding.k_matrix import format_K
from csd.models import catalog
from csd.record.recording import SUFFIX, Recording, bundled_recordings, file_name
from csd.request.prompts import example_prompts
from csd.request.request import Request
from csd.run import LaneFinished

TRACES = tuple(
    replace(trace, header=replace(trace.header, family="embedded"))
    for trace in (make_trace("autoregressive"), make_trace("cascade"))
)


def test_the_notes_of_the_recordings_that_come_with_the_project():
    fitted = {format_K(one.K) for one in example_prompts(catalog.find("embedded")) if one.K}
    for found in bundled_recordings().values():
        plans = {format_K(trace.header.settings["K"]) for trace in found.traces if trace.header.method == "cascade"}
        assert found.note == (recorder.FITTED if plans & fitted else "")


@pytest.mark.parametrize("family", recorder.TAKES)
def test_every_take_is_an_example_of_its_family(family):
    titles = {(prompt.kind, prompt.title) for prompt in example_prompts(catalog.find(family))}
    assert {(take.kind, take.title) for take in recorder.takes_of(family)} <= titles


def test_a_family_without_takes_is_refused(csd_without_models):
    done = csd_without_models("record", "--family", "Qwen3")
    assert done.exit_code == 2 and "Choose one of: embedded, smollm2" in done.stderr


def test_files_of_another_family_are_named_after_it():
    recording = Recording(
        (replace(TRACES[0], header=replace(TRACES[0].header, family="smollm2")),), "The sky", "explain"
    )
    assert file_name(1, recording) == f"smollm2-1-explain-the-sky{SUFFIX}"


@pytest.fixture
def raced(monkeypatch) -> list[Request]:
    """The request of every race that `record` runs; nothing is computed."""
    seen: list[Request] = []

    def race(family, request, stopped):
        seen.append(request)
        yield LaneFinished(1, TRACES[1])
        yield LaneFinished(0, TRACES[0])

    monkeypatch.setattr(recorder, "run_race", race)
    return seen


def test_every_take_is_run_once_warm_and_replaces_the_old_ones(csd_on_toy, raced, tmp_path):
    (tmp_path / f"9-old{SUFFIX}").write_bytes(b"")
    other = tmp_path / f"smollm2-1-story{SUFFIX}"
    other.write_bytes(Recording(TRACES, kind="another family's").to_gzip())
    done = csd_on_toy("record", "--max-new", "48", "--out", str(tmp_path))
    assert done.exit_code == 0, done.output
    *_, last = bundled_recordings(tmp_path).values()
    assert last.kind == "another family's"
    other.unlink()
    found = bundled_recordings(tmp_path)
    assert [one.kind for one in found.values()] == [take.kind for take in recorder.EMBEDDED]
    assert all(one.traces == TRACES for one in found.values())
    assert all(one.machine and one.date for one in found.values())
    assert [one.max_new for one in raced] == [recorder.WARM_UP, 48] * len(recorder.EMBEDDED)
    paper = raced[-1].methods
    assert (paper[1].k, paper[2].K) == (5, ((5, 19, 29), (0, 1, 11), (0, 0, 10)))
    assert "paper's K" in list(found.values())[-1].title
    names = [[method.name for method in one.methods] for one in raced]
    usual = ["autoregressive", "speculative", "cascade"]
    four = ["autoregressive", "speculative", "prompt lookup", "cascade"]
    both = [*usual, "adaptive cascade"]
    assert names == [four] * 2 + [usual] * (len(raced) - 6) + [both] * 2 + [usual] * 2
    assert raced[0].methods[3].K == ((8, 14, 16), (0, 3, 5), (0, 0, 2)), "the plan of the example"
    assert any(one.temperature > 0 for one in raced)


def test_an_interrupted_recording_leaves_the_old_files(csd_on_toy, raced, monkeypatch, tmp_path):
    real = recorder.record_race

    def interrupted(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return real(*arguments)

    monkeypatch.setattr(recorder, "record_race", interrupted)
    old = tmp_path / f"9-old{SUFFIX}"
    old.write_bytes(b"")
    assert csd_on_toy("record", "--out", str(tmp_path)).exit_code == 130
    assert [*tmp_path.iterdir()] == [old]


def test_a_folder_that_cannot_be_made_is_refused(csd_on_toy, raced, tmp_path):
    (tmp_path / "file").write_text("")
    done = csd_on_toy("record", "--max-new", "48", "--out", str(tmp_path / "file" / "inside"))
    assert done.exit_code == 2 and "Cannot write the recordings" in done.stderr


def test_an_unknown_family_is_refused(csd_without_models):
    done = csd_without_models("record", "--family", "nonesuch")
    assert done.exit_code == 2 and "Choose one of: embedded" in done.stderr
