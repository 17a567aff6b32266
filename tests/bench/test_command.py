"""The command `csd bench`, from prompts to a page."""

from __future__ import annotations

import json
import os
import signal

import pytest
from typer.testing import CliRunner

import csd.models.family
from csd.bench import run
from csd.bench.store import CONFIG, TRACES


@pytest.fixture
def cli(embedded, monkeypatch, tmp_path):
    monkeypatch.setattr(csd.models.family, "open_family", lambda *_, **__: embedded)
    monkeypatch.chdir(tmp_path)
    from csd.cli.commands import app

    (tmp_path / "two.jsonl").write_text(
        '{"kind": "story", "prompt": "Once upon a time"}\n{"kind": "code", "prompt": "def f():"}\n'
    )
    return lambda *arguments: CliRunner().invoke(app, ["bench", "--prompts", "two.jsonl", "--max-new", "8", *arguments])


def test_bench_from_prompts_to_page(cli, tmp_path):
    """A small real run with baselines, and then the same again: nothing is left to do, and the figures are the same."""
    options = ("--quick", "--max-new", "8", "--out", "results")
    first = cli(*options)
    assert first.exit_code == 0, first.output
    found = json.loads(first.stdout.splitlines()[-1])
    entries = [row["entry"] for row in found["entries"]]
    assert entries[0] == "1-autoregressive"
    assert "transformers-eager" in entries and "transformers-prompt-lookup-10" in entries
    assert not any("compiled" in row["title"] for row in found["entries"])
    assert all(cell["verdict"] in ("reference", "identical") and cell["tokens"] == 8 for cell in found["cells"])
    assert found["best_autoregressive"] and found["limits"]["read_rate"] > 0 and found["forward_times"] == []
    assert all(row["race_share"] > 0 and 0 < row["overhead"] < 1 for row in found["entries"] if row["own"])
    for name in (TRACES, CONFIG, "bench.json", "bench.md", "bench.html"):
        assert (tmp_path / "results" / name).stat().st_size > 0
    traces = (tmp_path / "results" / "traces.jsonl").read_bytes()
    again = cli(*options)
    assert again.exit_code == 0 and "0 runs to do" in again.stderr
    assert (tmp_path / "results" / "traces.jsonl").read_bytes() == traces
    assert json.loads(again.stdout.splitlines()[-1])["cells"][0]["speed"] == found["cells"][0]["speed"]
    other = cli("--quick", "--max-new", "9", "--out", "results")
    assert other.exit_code == 2 and "other settings (prompts)" in other.stderr


def test_bench_of_named_methods_that_repeat_themselves(cli, monkeypatch):
    monkeypatch.setattr("csd.bench.summary.REPEATED_LIMIT", -1.0)
    result = cli(
        "--only", "story", "--method", "autoregressive", "--method", "prompt-lookup", "--lookup", "5", "--no-peers",
        "--no-growth", "--no-race", "--repeats", "1", "--out", "results",
    )  # fmt: skip
    assert result.exit_code == 1, result.output
    assert "A text repeats itself" in result.stdout and "story: Once upon a time" in result.stdout
    found = json.loads(result.stdout.splitlines()[-1])
    assert [row["title"] for row in found["entries"]] == ["autoregressive", "prompt lookup, k=5"]
    assert found["entries"][0]["race_share"] is None and len(found["prompts"]) == 1


def test_bench_stopped_keeps_and_prints_what_there_is(cli, monkeypatch):
    real = run.measure

    def two_jobs(family, plan, baselines, jobs, stopped, failed):
        for number, found in enumerate(real(family, plan, baselines, jobs, lambda: False, failed)):
            yield found
            if number == 1:
                os.kill(os.getpid(), signal.SIGINT)
                return

    monkeypatch.setattr(run, "measure", two_jobs)
    result = cli("--no-peers", "--no-growth", "--repeats", "1", "--out", "results")
    assert result.exit_code == 130, result.output
    assert len(json.loads(result.stdout.splitlines()[-1])["cells"]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "poem"], "Choose one of: story, code"),
        (["--prompts", "nothing.jsonl"], "cannot be read"),
        (["--max-new", "2000"], "No prompts are left"),
        (["--peer", "magic"], "magic"),
        (["--method", "magic"], "magic"),
        (["--K", "[[1,2],[0,1]]"], "K must have 3 rows"),
        (["--k", "0"], "k must be a whole number"),
        (["--scale", "2B"], "Unknown size"),
        (["--drafter", "nobody"], "nobody"),
        (["--out", "two.jsonl"], "cannot be used"),
    ],
)
def test_bench_refuses_with_a_sentence(cli, arguments, words):
    result = cli(*arguments)
    assert result.exit_code == 2, result.output
    assert words in result.stderr and "Traceback" not in result.output and not result.stdout.strip()
