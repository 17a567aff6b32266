"""`csd bench` on the embedded family: from prompts to a page, and again; exit codes, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import sys

import pytest

from csd.cli import benchmark
from csd.cli.bench_options import MeasureOptions

STORY_AND_CODE = '{"kind": "story", "prompt": "Once upon a time"}\n{"kind": "code", "prompt": "def f():"}\n'
ALONE = ("--no-baselines", "--no-growth", "--no-race", "--repeats", "1")

PLOTTING = ("csd.bench.page", "csd.bench.figures")


class HidePlotly:
    """A finder that has plotly not installed."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "plotly":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.fixture
def in_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.jsonl").write_text(STORY_AND_CODE)
    return tmp_path


@pytest.fixture
def csd_bench(csd_on_embedded, in_folder):
    """Runs `csd bench` on two prompts, with at most 8 new tokens."""
    return lambda *arguments: csd_on_embedded("bench", "--prompts", "two.jsonl", "--max-new", "8", *arguments)


def figures_in(result) -> dict:
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.slow
def test_bench_from_prompts_to_page(csd_bench, tmp_path):
    """A small real run with baselines, and then the same again: nothing is left to do, and the figures are the same."""
    options = ("--quick", "--max-new", "8", "--out", "results")
    first = csd_bench(*options)
    assert first.exit_code == 0, first.output
    found = figures_in(first)
    titles = [row["title"] for row in found["entries"]]
    assert titles[0] == "autoregressive"
    assert {"transformers, eager", "transformers, prompt lookup, 10"} <= {*titles}
    assert not any("compiled" in title for title in titles)
    assert all(cell["verdict"] in ("reference", "identical") and cell["tokens"] == 8 for cell in found["cells"])
    assert found["best_autoregressive"] and found["limits"]["read_rate"] > 0 and found["forward_times"] == []
    assert all(row["race_share"] > 0 and 0 < row["overhead"] < 1 for row in found["entries"] if row["own"])
    for name in ("traces.jsonl", "config.json", "bench.json", "bench.md", "bench.html"):
        assert (tmp_path / "results" / name).stat().st_size > 0
    traces = (tmp_path / "results" / "traces.jsonl").read_bytes()
    again = csd_bench(*options)
    assert again.exit_code == 0 and "0 runs to do" in again.stderr
    assert (tmp_path / "results" / "traces.jsonl").read_bytes() == traces
    assert figures_in(again)["cells"][0]["speed"] == found["cells"][0]["speed"]
    other = csd_bench("--quick", "--max-new", "9", "--out", "results")
    assert other.exit_code == 2 and "other settings (prompts)" in other.stderr


def test_named_methods_and_a_text_that_repeats_itself(csd_bench, monkeypatch):
    monkeypatch.setattr("csd.bench.summary.REPEATED_LIMIT", -1.0)
    methods = ("--method", "autoregressive", "--method", "prompt-lookup", "--lookup", "5")
    result = csd_bench("--only", "story", *methods, *ALONE, "--out", "results")
    assert result.exit_code == 1, result.output
    assert "A text is repetitive" in result.stdout and "story: Once upon a time" in result.stdout
    found = figures_in(result)
    assert [row["title"] for row in found["entries"]] == ["autoregressive", "prompt lookup, k=5"]
    assert found["entries"][0]["race_share"] is None and len(found["prompts"]) == 1


def test_without_plotly_everything_but_the_page_is_written(csd_bench, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [HidePlotly(), *sys.meta_path])
    for name in [name for name in sys.modules if name.split(".")[0] == "plotly" or name in PLOTTING]:
        monkeypatch.delitem(sys.modules, name)
    result = csd_bench("--only", "story", "--method", "autoregressive", *ALONE, "--out", "results")
    assert result.exit_code == 0, result.output
    assert "bench.html is left out, since plotly is not installed" in result.stderr
    assert "autoregressive" in result.stdout and figures_in(result)["cells"][0]["tokens"] == 8
    assert {path.name for path in (tmp_path / "results").iterdir()} == {
        "traces.jsonl", "config.json", "bench.json", "bench.md",
    }  # fmt: skip


def test_the_papers_comparison(csd_on_embedded, in_folder):
    (in_folder / "sums.jsonl").write_text(json.dumps({"question": "How many?", "answer": "2"}))
    asked = ("bench", "--paper", "--prompts", "sums.jsonl", "--max-new", "4", *ALONE)
    result = csd_on_embedded(*asked, "--out", "results")
    assert result.exit_code == 0, result.output
    found = figures_in(result)
    titles = [row["title"] for row in found["entries"]]
    assert len(titles) == 8 and titles[-1] == "cascade, K=[[5,19,29],[0,1,11],[0,0,10]], small and tiny"
    assert found["prompts"][0]["title"].startswith("Reason the math question below step by step.")
    assert found["entries"][0]["simulated"]["by size"] == 1 and "SWI, by size (simulated)" in result.stdout
    refused = csd_on_embedded(*asked, "--k", "3", "--out", "others")
    assert refused.exit_code == 2 and "--paper brings its own methods" in refused.stderr


def test_prompts_that_are_too_long_are_left_out(csd_on_embedded, in_folder):
    (in_folder / "long.jsonl").write_text(STORY_AND_CODE + json.dumps({"kind": "long", "prompt": "word " * 3000}))
    methods = ("--method", "autoregressive", "--max-new", "4")
    result = csd_on_embedded("bench", "--prompts", "long.jsonl", *methods, *ALONE, "--out", "results")
    assert result.exit_code == 0, result.output
    found = figures_in(result)
    assert len(found["prompts"]) == 2
    assert found["notes"] == ["Prompts left out because they are too long for the target: 1."]


def test_an_interrupted_benchmark_keeps_and_prints_what_there_is(csd_bench, monkeypatch):
    real = benchmark.measure

    def two_jobs(family, plan, peers, todo, stopped, failed):
        for number, found in enumerate(real(family, plan, peers, todo, lambda: False, failed)):
            yield found
            if number == 1:
                os.kill(os.getpid(), signal.SIGINT)
                return

    monkeypatch.setattr(benchmark, "measure", two_jobs)
    result = csd_bench("--no-baselines", "--no-growth", "--repeats", "1", "--out", "results")
    assert result.exit_code == 130, result.output
    assert len(figures_in(result)["cells"]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--max-new", "2000"], "No prompts are left"),
        (["--scale", "2B"], "Unknown size"),
        (["--drafter", "nobody"], "nobody"),
        (["--method", "magic"], "magic"),
        (["--method", "speculative", "--k", "0"], "k must be a whole number"),
        (["--K", "[[1,2],[0,1]]"], "K must have 3 rows"),
        (["--method", "cascade", "--method", "cascade"], "listed twice"),
        (["--out", "two.jsonl"], "cannot be used"),
    ],
)
def test_refused_with_a_sentence(csd_bench, arguments, words):
    result = csd_bench(*arguments)
    assert result.exit_code == 2, result.output
    assert words in result.stderr and "Traceback" not in result.output and not result.stdout.strip()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "poem"], "Choose one of: story, code"),
        (["--prompts", "nothing.jsonl"], "cannot be read"),
        (["--baseline", "magic"], "'magic'. Choose one of: compiled"),
        (["--family", "nonesuch"], "Choose one of: embedded"),
        (["--draft", "some/draft"], "--draft needs --target"),
    ],
)
def test_refused_before_anything_is_loaded(csd_without_models, in_folder, arguments, words):
    result = csd_without_models("bench", "--prompts", "two.jsonl", *arguments)
    assert result.exit_code == 2, result.output
    assert words in result.stderr and "Traceback" not in result.output and not result.stdout.strip()


@pytest.mark.parametrize(
    ("given", "repeats", "max_new", "growth"),
    [
        (MeasureOptions(), 3, None, True),
        (MeasureOptions(growth=False, max_new=9, repeats=5), 5, 9, False),
        (MeasureOptions(quick=True, repeats=5), 1, 64, False),
        (MeasureOptions(quick=True, max_new=9, growth=True), 1, 9, True),
    ],
)
def test_what_quick_implies(given, repeats, max_new, growth):
    found = given.resolve()
    assert (found.repeats, found.max_new, found.growth) == (repeats, max_new, growth)
