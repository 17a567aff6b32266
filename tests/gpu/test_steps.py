"""The steps: a rehearsal of each on a CPU, and that they find what they run."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
import torch
from bench_samples import make_report

from csd.bench.enlarge import SHAPES
from csd.bench.limits import Limits
from csd.models.backends.cuda_graphs import WIDTHS
from csd.paths import ROOT
from gpu import attention, bench, captures, choice, limits, passes, products, versions
from gpu.figures import Figures, read_figures
from gpu.size import size_of_models
from gpu.steps import STEPS
from gpu.table import COPY

SCRIPT = ROOT / "tests" / "gpu.sh"


def test_steps_exist_and_end_in_time():
    assert len({step.name for step in STEPS}) == len(STEPS) and STEPS[0].module == "versions"
    assert all(find_spec(f"gpu.{step.module}") for step in STEPS)
    assert sum(step.limit for step in STEPS) < 30 * 60


def test_a_gpu_measures_what_it_has_room_for():
    assert [size_of_models(2**30 * gib) for gib in (8, 16, 24, 80)] == ["1B", "1B", "7B", "7B"]
    assert {"1B", "7B"} <= SHAPES.keys()


def test_limits(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "COPIED_BYTES", {"cpu": 2**20})
    monkeypatch.setattr(limits, "MATRIX_ROWS", {"cpu": 64})
    monkeypatch.setattr("csd.bench.limits.SECONDS", 0.0)
    limits.main("cpu", tmp_path / "limits.jsonl")
    copy, product = read_figures(tmp_path / "limits.jsonl")
    assert copy.what == COPY and copy.value > 0 and product.value > 0


@pytest.mark.parametrize(("step", "rows"), [(products, 24), (attention, 2), (choice, 9)])
def test_rehearsal(step, rows, tmp_path):
    step.main("cpu", tmp_path / "figures.jsonl")
    found = read_figures(tmp_path / "figures.jsonl")
    assert len(found) == rows and not any(figure.error for figure in found)
    assert all(figure.value > 0 for figure in found)


def test_rehearsal_of_a_models_passes(tmp_path):
    passes.main("cpu", tmp_path / "figures.jsonl", "tiny")
    agreement, *times = read_figures(tmp_path / "figures.jsonl")
    assert agreement.value < 0.01 and f"{sum(WIDTHS)} of {sum(WIDTHS)} best tokens" in agreement.text
    assert [time.what for time in times] == ["1 wide, launched", "8 wide, launched"]
    weights = sum(weight.nbytes for weight in passes.load("tiny", "cpu").parameters())
    assert all(time.value > 0 and time.bytes == weights for time in times)


@torch.inference_mode()
def test_a_wrong_row_is_seen():
    lane = passes.open_lane(passes.load("tiny", "cpu"))
    lane.keys[0][:, :, 7] = 0
    assert passes.agreement(lane).value > 0.1


def test_the_products_are_those_of_the_shape():
    """Per layer q, k, v, o, gate, up and down are the weights of a 7B target without its table."""
    sizes = {one.name: one.n * one.k for one in products.products(SHAPES["7B"]["target"])}
    layer = sizes["q"] + sizes["q, k, v fused"] + sizes["gate, up fused"] + sizes["down"]
    assert 32 * layer == pytest.approx(6.48e9, rel=0.01)
    assert sizes["gate, up fused"] == 2 * sizes["gate"] and sizes["q, k, v fused"] == 3 * sizes["q"]


def test_attention_masks_what_lies_beyond_each_query():
    case = attention.Case(2, 1, 4, 8, 5)
    seen = attention.masked_scores(case, torch.zeros(1, 2, 2, 4))[0, 0] == 0
    assert seen.tolist() == [[True] * 4 + [False] * 4, [True] * 5 + [False] * 3]


def test_figures_of_a_bench():
    report = make_report(limits=Limits(1e9, None, 1e9, 10**7, 0))
    first, second, *_, note = bench.bench_figures(json.loads(json.dumps(report.document())))
    assert (first.what, first.unit) == ("autoregressive", "tok/s") and "x autoregressive" not in first.text
    assert "2.83 x autoregressive" in second.text and "of 2 texts differ" in second.text
    assert note.text == "One is missing."


def test_outcomes_of_tests(tmp_path):
    figures = Figures(tmp_path / "captures.jsonl", lambda line: None)
    outcomes = captures.Outcomes(figures)

    def report(name: str, when: str, outcome: str) -> SimpleNamespace:
        said = "here\nE   assert 1 == 2\nthere"
        kinds = {"passed": outcome == "passed", "failed": outcome == "failed"}
        return SimpleNamespace(nodeid=f"file.py::{name}", when=when, outcome=outcome, longreprtext=said, **kinds)

    for one in (
        ("test_a", "setup", "passed"), ("test_a", "call", "passed"), ("test_b", "setup", "skipped"),
        ("test_c", "setup", "passed"), ("test_c", "call", "failed"), ("test_d", "setup", "failed"),
    ):  # fmt: skip
        outcomes.pytest_runtest_logreport(report(*one))
    assert outcomes.counts == {"passed": 1, "failed": 2, "skipped": 1}
    found = read_figures(tmp_path / "captures.jsonl")
    assert [(figure.what, figure.error) for figure in found] == [
        ("test_c", "assert 1 == 2"),
        ("test_d", "assert 1 == 2"),
    ]


def test_each_kind_of_gpu_test_is_there():
    """The steps choose tests by words of their names: raw graphs, compiled graphs, a capture that fails."""
    names = {name for path in captures.gpu_test_files() for name in gpu_tests(path)}
    fails = {name for name in names if "fails" in name}
    compiled = {name for name in names - fails if "compiled" in name}
    assert fails and compiled and len(names - fails - compiled) >= 5


def gpu_tests(path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [one.name for one in functions if any("gpu" in ast.unparse(mark) for mark in one.decorator_list)]


def test_the_script_is_bash():
    assert subprocess.run(["bash", "-n", str(SCRIPT)], check=False).returncode == 0
    other = subprocess.run(
        ["bash", str(SCRIPT)], env={**os.environ, "PYTHON": "no-such"}, capture_output=True, text=True
    )
    assert other.returncode == 2 and "Name a Python that has PyTorch" in other.stderr


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so(tmp_path):
    assert "NVIDIA GPU" in versions.no_gpu()
    ended = run_script(tmp_path)
    assert ended.returncode == 2 and "NVIDIA GPU" in ended.stdout and "Traceback" not in ended.stdout
    assert "Nothing was measured" in ended.stdout


@pytest.mark.slow
def test_rehearsal_from_the_script_to_the_table(tmp_path):
    """Two steps in processes of their own, and again: they are not repeated."""
    options = ("--device", "cpu", "--only", "choice", "--only", "failed-capture")
    first = run_script(tmp_path, *options)
    assert first.returncode == 0, first.stdout
    assert "| choice | greedy, rows 1, vocabulary 500 |" in first.stdout and "1 skipped" in first.stdout
    assert "Nothing in it is about a GPU" in first.stdout and "| bench | (not run) |" in first.stdout
    again = run_script(tmp_path, *options)
    assert again.returncode == 0 and "choice: already done" in again.stdout
    assert first.stdout.split("| step |")[1] == again.stdout.split("| step |")[1]


def run_script(tmp_path, *options: str) -> subprocess.CompletedProcess:
    command = ["bash", str(SCRIPT), "--out", str(tmp_path / "results"), *options]
    env = {**os.environ, "PYTHON": sys.executable}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=600)
