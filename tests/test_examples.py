"""Every example runs, and none is longer than a screen."""

from __future__ import annotations

import json
import runpy
import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

import csd

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
FAMILY = ROOT / "assets" / "family"


def run(name: str, monkeypatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 30


@pytest.mark.slow
def test_race(embedded_once, monkeypatch, capsys):
    run("race.py", monkeypatch)
    *answer, autoregressive, speculative, adaptive = capsys.readouterr().out.splitlines()
    assert "20 apples" in "\n".join(answer)
    assert autoregressive.endswith("reference")
    assert speculative.endswith("identical") and adaptive.endswith("identical")


@pytest.mark.slow
def test_custom_drafter(embedded_once, monkeypatch, capsys):
    run("custom_drafter.py", monkeypatch)
    reference, ours = capsys.readouterr().out.splitlines()
    assert "64 target passes" in reference and "64 target passes" not in ours and ours.endswith("identical")


@pytest.mark.slow
def test_minimal_benchmark(embedded_once, monkeypatch, capsys):
    short = partial(csd.generate, max_new=8)
    monkeypatch.setattr(csd, "generate", lambda *its, max_new: short(*its))
    run("minimal_benchmark.py", monkeypatch)
    assert "geometric mean" in capsys.readouterr().out


@pytest.mark.slow
def test_own_models(monkeypatch, capsys, tmp_path):
    """Folders as transformers saves them: weights and tokenizer together."""
    for name in ("target", "tiny"):
        shutil.copytree(FAMILY / name, tmp_path / name, copy_function=lambda source, to: Path(to).symlink_to(source))
        for file in ("tokenizer.json", "tokenizer_config.json"):
            (tmp_path / name / file).symlink_to(FAMILY / file)
    run("own_models.py", monkeypatch, str(tmp_path / "target"), str(tmp_path / "tiny"))
    assert "target passes" in capsys.readouterr().out


@pytest.mark.slow
def test_the_notebook_plots_a_race(embedded_once):
    """Its cells run in order; showing the figure is left to the notebook."""
    cells = json.loads((EXAMPLES / "plot_a_race.ipynb").read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    names: dict = {}
    exec(compile(code, "plot_a_race.ipynb", "exec"), names)
    assert names["figure"].data
