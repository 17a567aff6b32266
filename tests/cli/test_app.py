"""The app as a whole: every command is there, and reading help loads neither models nor the page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from csd.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("race", "bench", "load", "tune", "record", "export", "families", "bigram")
ABSENT = "import sys; sys.modules.update(dict.fromkeys(('torch', 'transformers', 'gradio', 'plotly')))"


@pytest.mark.parametrize(
    "command", [(), *((command,) for command in COMMANDS)], ids=lambda words: " ".join(words) or "csd"
)
def test_help_needs_neither_torch_nor_gradio(command):
    code = f"{ABSENT}; from csd.__main__ import main; sys.argv = ['csd', *{command!r}, '--help']; main()"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert f"Usage: {' '.join(('csd', *command))} " in found.stdout and "--help" in found.stdout


def test_help_lists_every_command():
    lines = CliRunner().invoke(app, ["--help"]).stdout.partition("Commands:")[2].splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")]
    assert names == [*COMMANDS]


def test_python_m_csd_is_the_same_command_line():
    found = subprocess.run(
        [sys.executable, "-m", "csd", "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0 and "Usage: python -m csd " in found.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dance"], "dance"),
        (["race"], "PROMPT"),
        (["race", "x", "--seed", "one"], "--seed"),
        (["bench", "--repeats", "0"], "--repeats"),
    ],
)
def test_a_wrong_spelling_exits_with_2(arguments, words):
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == 2 and words in found.stderr
