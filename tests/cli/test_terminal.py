"""The command line on the embedded family: exit codes, refusals, the JSON file, and what is printed."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import csd.models.family
import csd.run
from csd.cli import display as terminal
from csd.cli.commands import app
from csd.record.trace import Header, Level, Review, Step, Trace
from csd.run import LaneAdvanced, LaneFinished, RaceStarted

ROOT = Path(__file__).resolve().parents[2]
STORY = "Once upon a time"
SHORT = ("--max-new", "8")


@pytest.fixture
def cli(embedded, monkeypatch):
    """Runs the command line in this process; the embedded family is loaded once for all tests."""
    load = csd.models.family.load_family

    def open_once(spec, device="auto", dtype="auto", progress=lambda sentence: None):
        return (
            embedded
            if (spec.name, device, dtype) == ("embedded", "auto", "auto")
            else load(spec, device, dtype, progress)
        )

    monkeypatch.setattr(csd.models.family, "load_family", open_once)
    return lambda *arguments, **more: CliRunner().invoke(app, list(arguments), **more)


def test_race_prints_texts_and_table(cli):
    result = cli("race", STORY, *SHORT)
    assert result.exit_code == 0, result.output
    for word in (
        "== autoregressive",
        "== speculative",
        "== adaptive cascade",
        "identical",
        "short run",
        "tokens per run",
    ):
        assert word in result.stdout
    assert "The same text as autoregressive." in result.stdout
    assert "\x1b" not in result.stdout


def test_json_file_holds_every_lane(cli, tmp_path):
    file = tmp_path / "race.json"
    result = cli("race", STORY, *SHORT, "--seed", "3", "--temperature", "0.8", "--json", str(file))
    assert result.exit_code == 0, result.output
    data = json.loads(file.read_text())
    traces = [Trace.from_dict(trace) for trace in data["traces"]]
    assert [trace.header.method for trace in traces] == ["autoregressive", "speculative", "adaptive"]
    assert [trace.to_dict() for trace in traces] == data["traces"]
    assert all(trace.header.rule == "coupled" and trace.header.seed == 3 for trace in traces)
    assert len({trace.tokens for trace in traces}) == 1 and 0 < len(traces[0].tokens) <= 8
    assert traces[0].answer.strip() and traces[0].answer in result.stdout


def test_json_alone_on_standard_output(cli):
    result = cli("race", STORY, *SHORT, "--json", "-")
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout)["traces"]) == 3
    assert "tokens per run" in result.stderr


def test_prompt_from_standard_input(cli):
    result = cli("race", "-", *SHORT, "--json", "-", input="def mean(values):\n")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["traces"][0]["header"]["text"] == "def mean(values):"


def test_methods_and_knobs_reach_the_engine(cli):
    result = cli(
        "race", STORY, *SHORT, "--always", "--method", "prompt-lookup", "--lookup", "5", "--method", "speculative",
        "--drafter", "draft-small", "--k", "3", "--method", "cascade", "--K", "[[1,4,6],[0,2,4],[0,0,5]]",
        "--lenience", "2", "--temperature", "1", "--top-k", "40", "--top-p", "0.9", "--rule", "rejection", "--json", "-",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    lookup, speculative, cascade = [trace["header"] for trace in json.loads(result.stdout)["traces"]]
    assert (lookup["method"], lookup["k"]) == ("prompt lookup", 5)
    assert (speculative["draft"], speculative["k"]) == ("draft-small", 3)
    assert (cascade["K"], cascade["lenience"]) == ([[1, 4, 6], [0, 2, 4], [0, 0, 5]], 2)
    assert {(h["rule"], h["temperature"], h["top_k"], h["top_p"]) for h in (lookup, speculative, cascade)} == {
        ("rejection", 1, 40, 0.9)
    }
    assert lookup["eos"] == []
    assert "a sample of its own" in result.stderr


def test_one_lane(cli):
    result = cli("race", STORY, *SHORT, "--method", "cascade", "--json", "-")
    assert result.exit_code == 0, result.output
    assert [trace["header"]["method"] for trace in json.loads(result.stdout)["traces"]] == ["cascade"]
    assert "not compared" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["   "], "prompt is empty"),
        (["word " * 3000], "over the limit of 1,024"),
        ([STORY, "--family", "nonesuch"], "Choose one of: embedded"),
        ([STORY, "--method", "magic"], "magic"),
        ([STORY, "--K", "[[1,2],[0,1]]"], "K must have 3 rows"),
        ([STORY, "--K", "[[5,2,1],[0,4,8],[0,0,8]]"], "cumulative"),
        ([STORY, "--K", "nonsense"], "nonsense"),
        ([STORY, "--k", "0"], "k must be a whole number"),
        ([STORY, "--drafter", "nobody"], "nobody"),
        ([STORY, "--temperature", "-1"], "Temperature"),
        ([STORY, "--temperature", "nan"], "Temperature"),
        ([STORY, "--top-p", "0"], "Top-p"),
        ([STORY, "--max-new", "0"], "New tokens"),
        ([STORY, "--lenience", "0.5"], "Lenience"),
        ([STORY, "--rule", "guess", "--temperature", "1"], "rule must be one of"),
        ([STORY, "--dtype", "float7"], "float7"),
        ([STORY, "--device", "toaster"], "toaster"),
        ([STORY, "--draft", "some/draft"], "--draft goes with --target"),
        ([STORY, "--target", "no/such-folder/here"], "no/such-folder/here"),
        ([STORY, "--json", "/no/such/folder/race.json"], "no place for a file"),
        (["caf\udce9"], "UTF-8"),
    ],
)
def test_refused_with_a_sentence(cli, monkeypatch, arguments, words):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    result = cli("race", *arguments)
    assert result.exit_code == 2, result.output
    assert words in result.stderr
    assert "Traceback" not in result.output and not result.stdout.strip()


def test_exit_code_1_when_a_text_differs(cli, monkeypatch):
    """The engine's race, with the last token of the cascade lane replaced on its way out."""
    real = csd.run.race

    def tampered(*arguments):
        for event in real(*arguments):
            if isinstance(event, LaneFinished) and event.lane == 2:
                *steps, last = event.trace.steps
                wrong = replace(last, tokens=(*last.tokens[:-1], last.tokens[-1] ^ 1))
                event = replace(event, trace=replace(event.trace, steps=(*steps, wrong)))
            yield event

    monkeypatch.setattr(csd.run, "race", tampered)
    result = cli("race", STORY, *SHORT, "--always")
    assert result.exit_code == 1, result.output
    assert "differs at 7" in result.stdout


def test_help_reads_without_torch():
    code = "import sys; sys.modules['torch'] = sys.modules['transformers'] = None; from csd.cli.commands import app; app(['%s', '--help'])"
    for command in ("race", "bench", "families", "bigram"):
        found = subprocess.run(
            [sys.executable, "-c", code % command], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert found.returncode == 0, found.stderr
        assert "Usage:" in found.stdout and "--help" in found.stdout
    everything = CliRunner().invoke(app, ["--help"])
    assert all(command in everything.stdout for command in ("race", "bench", "families", "bigram"))
    assert "Exit codes" in CliRunner().invoke(app, ["race", "--help"]).stdout


def test_families_lists_sizes(cli):
    result = cli("families")
    assert result.exit_code == 0, result.output
    for word in ("embedded", "Qwen3", "SmolLM2", "20.0 M", "GiB", "memory free"):
        assert word in result.stdout


@pytest.mark.slow
def test_ctrl_c_writes_what_there_is(tmp_path):
    file = tmp_path / "race.json"
    command = [sys.executable, "-m", "csd", "race", STORY, "--always", "--max-new", "900", "--json", str(file)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        said = next((line for line in process.stderr if line.startswith("racing")), None)
        assert said, "the race did not begin"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in error
    traces = [Trace.from_dict(trace) for trace in json.loads(file.read_text())["traces"]]
    assert len(traces) == 3 and "stopped" in {trace.end for trace in traces}


def test_live_view_in_a_terminal(embedded):
    """On a terminal the lanes stand side by side, and every level has an attribute as well as a colour."""
    settings = csd.run.Request(STORY, terminal_methods(embedded), 8)
    console = Console(force_terminal=True, width=120, height=30, record=True, file=io.StringIO())
    traces = terminal.show_race(csd.run.race(embedded, settings), console)
    text = console.export_text(clear=False)
    assert [trace.header.method for trace in traces] == ["autoregressive", "speculative"]
    assert any("autoregressive" in line and "speculative" in line for line in text.splitlines())
    assert "proposed by  0 MaxGram" in text
    styles = [terminal.style(level, 3) for level in range(4)]
    assert len({entry.split()[-1] for entry in styles}) == 4


def terminal_methods(family):
    from csd.decoding.methods import Autoregressive, Speculative

    return Autoregressive(), Speculative(family.spec.drafts[0].name, 3)


def test_a_character_of_several_tokens_and_control_characters():
    """A euro sign in three tokens is one character on the screen; an escape sequence of the model is not sent on."""
    pieces = {1: (0xE2,), 2: (0x82,), 3: (0xAC,), 4: "\x1b[31mred", 5: "\n"}
    lane = terminal.LaneView(header())
    lane.add(LaneAdvanced(0, step((1, 2, 3, 4, 5)), pieces), pieces)
    assert lane.text.plain == "€\ufffd[31mred\n"


@pytest.mark.parametrize(
    ("tokens", "margin", "words", "differs"),
    [
        ((7, 8, 9), 0.5, "identical", False),
        ((7, 8, 1), 0.5, "differs at 2 (margin 5.0e-01)", True),
        ((7, 8, 1), 1e-4, "differs at 2", True),
        ((7, 8, 1), 9e-5, "near-tie", False),
        ((7, 8, 1), None, "margin unknown", True),
    ],
)
def test_what_counts_as_different(tokens, margin, words, differs):
    reference = trace("autoregressive", (7, 8, 9), margin)
    first, second = terminal.results([reference, trace("cascade", tokens, margin)])
    assert terminal.verdict(first) == "reference" and not first.differs
    assert words in terminal.verdict(second) and second.differs is differs
    assert second.ratio == pytest.approx(1)


def header(method="autoregressive") -> Header:
    levels = (Level("draft", 1), Level("target", 2))
    return Header(
        method, method, "toy", levels, (0,), "", 9, (), "greedy", 0.0, 0, 1.0, 0, 1.0, (), 0, "", "cpu", "float32", {}
    )  # fmt: skip


def step(tokens, at=1, margin=0.5) -> Step:
    review = Review("target", at, (), (), 0, tokens[0], 0.0, 0.25, margin=margin)
    return Step(tuple(tokens), ("target",) * len(tokens), review, 0.0, 0.25)


def trace(method, tokens, margin) -> Trace:
    steps = tuple(step((token,), at, margin) for at, token in enumerate(tokens, start=1))
    return Trace(header(method), (), steps, "budget", {})


def test_opened_is_enough_to_draw_nothing():
    """A race that ends before any lane moved prints heads, and no error."""
    console = Console(width=100, record=True, file=io.StringIO())
    assert terminal.show_race([RaceStarted((header(),), {})], console) == []
    assert "== autoregressive (waiting)" in console.export_text()
