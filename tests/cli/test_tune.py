"""`csd tune`: from prompts to a record in a file, and its tables."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from csd.cli.tune_tables import show_tuned
from csd.decoding.adaptive.prior import GENERAL
from csd.decoding.methods import Autoregressive, Cascade
from csd.request.defaults import defaults_for
from csd.request.tuned import Tuned, tuned_path
from csd.tuning.tune import Candidate


@pytest.fixture
def prompts(tmp_path, monkeypatch):
    """A file of two short prompts of one kind, and a cache folder of its own."""
    monkeypatch.setenv("CSD_HOME", str(tmp_path / "home"))
    file = tmp_path / "two.jsonl"
    file.write_text('{"kind": "a", "prompt": "abcabcab"}\n{"kind": "a", "prompt": "badcafe", "temperature": 0.8}\n')
    return str(file)


def test_tune_writes_the_record_that_the_defaults_use(csd_on_toy, toy_family, prompts):
    done = csd_on_toy("tune", "--prompts", prompts, "--repeats", "1", "--max-new", "24")
    assert done.exit_code == 0, done.output
    path = tuned_path(toy_family.spec, "cpu")
    assert f"written: {path}" in done.stderr
    record = Tuned.from_json(path.read_text())
    assert record.machine and record.prompts == 2
    assert defaults_for(toy_family.spec, "cpu").preset.k == record.k
    for words in ("ms for a pass over", "alpha at position", "x autoregressive", "predicted", "chosen"):
        assert words in done.stdout


def test_limit_and_file(csd_on_toy, prompts, tmp_path):
    out = tmp_path / "record.json"
    done = csd_on_toy(
        "tune", "--prompts", prompts, "--repeats", "1", "--limit", "1", "--max-new", "8", "--out", str(out)
    )
    assert done.exit_code == 0, done.output
    assert json.loads(out.read_text())["prompts"] == 1
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--prompts", "/no/such/file"], "cannot be read"),
        (["--family", "nonesuch"], "Choose one of: embedded"),
        (["--out", "/no/such/folder/record.json"], "its folder does not exist"),
    ],
)
def test_refused_before_anything_is_loaded(csd_without_models, arguments, words):
    done = csd_without_models("tune", *arguments)
    assert done.exit_code == 2, done.output
    assert words in done.stderr and "Traceback" not in done.output


def test_the_fastest_of_each_method_is_chosen():
    cascades = [Cascade((), ((k,),)) for k in (4, 8)]
    candidates = [
        Candidate(Autoregressive(), 1.0, 1.0),
        Candidate(cascades[0], 1.5, 1.25),
        Candidate(cascades[1], 1.4, 1.31),
    ]
    record = Tuned("toy", "cpu", "float32", "", "", 1, "", 0, 8, ((8,),), 1.0, GENERAL, {}, {})
    console = Console(width=200, record=True, file=io.StringIO())
    show_tuned(record, candidates, {"target": [0.001] * 8}, console)
    lines = console.export_text().splitlines()
    assert lines[0].split() == ["ms", "for", "a", "pass", "over", "1", "2", "4", "8", "tokens"]
    assert not any("alpha" in line for line in lines)
    assert [line.split()[-1] for line in lines[-3:]] == ["chosen", "1.25", "chosen"]
