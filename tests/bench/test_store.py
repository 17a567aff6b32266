"""The folder: a benchmark is resumed where it was, and other settings are refused."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from bench_samples import METHODS, PROMPTS, lane_family

from csd.bench.plan import Plan, list_jobs
from csd.bench.run import measure
from csd.bench.store import CONFIG, TRACES, append_lines, make_config, open_folder, remaining_jobs
from csd.bench.timed_run import parse_line
from csd.decoding.errors import Refusal
from csd.record.trace import Trace


def test_what_was_run_is_not_run_again(tmp_path):
    """A process stopped between jobs, and one killed in the middle of a line, are resumed."""
    family, folder = lane_family(), tmp_path / "results"
    plan = Plan(PROMPTS, METHODS, (), 2)
    config = make_config(family, plan)
    assert open_folder(folder, config, plan) == []
    todo = remaining_jobs(plan, [])
    assert todo == list(list_jobs(plan))
    for _, lines in measure(family, plan, (), todo[:3]):
        append_lines(folder, lines)
    runs = open_folder(folder, config, plan)
    assert len(runs) == 4  # two alone, and a race of two
    assert remaining_jobs(plan, runs) == todo[3:]
    file = folder / TRACES
    whole = file.read_text()
    file.write_text(whole.rsplit("\n", 2)[0] + '\n{"prompt":0,"repe')
    runs = open_folder(folder, config, plan)
    assert remaining_jobs(plan, runs) == todo[2:]  # half of the race is missing, so the race is run again
    assert len(file.read_text().splitlines()) == len(runs) == 2
    assert all(isinstance(Trace.from_dict(json.loads(line)["trace"]), Trace) for line in file.read_text().splitlines())


def test_lines_that_are_not_text_are_dropped(tmp_path):
    plan = Plan(PROMPTS, METHODS)
    config = make_config(lane_family(), plan)
    open_folder(tmp_path / "a", config, plan)
    (tmp_path / "a" / TRACES).write_bytes(b"\xff\xfe\n")
    assert open_folder(tmp_path / "a", config, plan) == []
    with pytest.raises(ValueError, match="does not describe a timed run"):
        parse_line({"prompt": 0})


def test_a_folder_with_other_settings_is_refused(tmp_path):
    plan = Plan(PROMPTS, METHODS)
    other = replace(plan, repeats=5, prompts=PROMPTS[:1])
    open_folder(tmp_path, make_config(lane_family(), plan), plan)
    with pytest.raises(Refusal, match=r"other settings \(repeats, prompts\).*--out"):
        open_folder(tmp_path, make_config(lane_family(), other), other)


def test_a_folder_of_another_version_is_refused(tmp_path):
    plan = Plan(PROMPTS, METHODS)
    config = make_config(lane_family(), plan)
    (tmp_path / CONFIG).write_text(json.dumps({**config, "version": 1}))
    with pytest.raises(Refusal, match=r"of another version of this program.*--out"):
        open_folder(tmp_path, config, plan)


def test_a_folder_that_cannot_be_used_is_refused(tmp_path):
    plan = Plan(PROMPTS, METHODS)
    config = make_config(lane_family(), plan)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(Refusal, match="something other than a benchmark"):
        open_folder(tmp_path, config, plan)
    with pytest.raises(Refusal, match="cannot be used"):
        open_folder(tmp_path / "mine.txt", config, plan)
    for damaged in ("{", "[]"):
        (tmp_path / CONFIG).write_text(damaged)
        with pytest.raises(Refusal, match="damaged"):
            open_folder(tmp_path, config, plan)
