"""`csd race`: exit codes, refusals, the JSON file, and what is printed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

import csd.cli.race
import csd.models.loading
from csd.record.trace import Trace
from csd.run import LaneFinished, run_race

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "abcabd"
STORY = "Once upon a time"
SHORT = ("--max-new", "8")


def headers_in(text: str) -> list[dict]:
    return [trace["header"] for trace in json.loads(text)["traces"]]


def methods_in(text: str) -> list[str]:
    return [header["method"] for header in headers_in(text)]


# ---- what is printed and written


def test_race_prints_texts_and_table(csd_on_toy):
    result = csd_on_toy("race", PROMPT, *SHORT)
    assert result.exit_code == 0, result.output
    for words in (
        "== autoregressive (8 tokens",
        "== speculative",
        "== cascade",
        "The same text as autoregressive.",
        "tokens per target pass (MAT)",
        "identical",
        "8 (short run)",
        "embedded on cpu, float64; the lanes share the device",
    ):
        assert words in result.stdout
    assert "\x1b" not in result.stdout
    assert "A note on the toy family." in result.stderr and "racing 3 lanes" in result.stderr


def test_a_copy_is_a_draft_of_the_family(csd_on_toy, monkeypatch):
    seen = []
    load = csd.models.loading.load_family
    monkeypatch.setattr(csd.models.loading, "load_family", lambda spec, *_, **__: seen.append(spec) or load(spec))
    csd_on_toy("race", PROMPT, *SHORT, "--copy", "self-8bit")
    csd_on_toy("race", PROMPT, *SHORT, "--target", "a/b", "--draft", "c/d", "--copy", "self-4bit")
    assert [spec.draft_names for spec in seen] == [("self-8bit", "small", "tiny"), ("self-4bit", "d")]
    wrong = csd_on_toy("race", PROMPT, "--copy", "self-2bit")
    assert wrong.exit_code == 2 and "Choose one of: self-8bit, self-4bit" in wrong.stderr


def test_json_file_holds_every_lane(csd_on_embedded, tmp_path):
    file = tmp_path / "race.json"
    result = csd_on_embedded("race", STORY, *SHORT, "--seed", "3", "--temperature", "0.8", "--json", str(file))
    assert result.exit_code == 0, result.output
    data = json.loads(file.read_text())
    traces = [Trace.from_dict(trace) for trace in data["traces"]]
    assert [trace.header.method for trace in traces] == ["autoregressive", "speculative", "cascade"]
    assert [trace.to_dict() for trace in traces] == data["traces"]
    assert all(trace.header.rule == "coupled" and trace.header.seed == 3 for trace in traces)
    assert len({trace.tokens for trace in traces}) == 1
    assert 0 < len(traces[0].tokens) <= 8
    assert traces[0].answer.strip() and traces[0].answer in result.stdout


def test_json_alone_on_standard_output(csd_on_toy):
    result = csd_on_toy("race", PROMPT, *SHORT, "--json", "-")
    assert result.exit_code == 0, result.output
    assert len(headers_in(result.stdout)) == 3
    assert "tokens per target pass (MAT)" in result.stderr


def test_prompt_from_standard_input(csd_on_toy):
    result = csd_on_toy("race", "-", *SHORT, "--json", "-", input="def mean(values):\n")
    assert result.exit_code == 0, result.output
    assert headers_in(result.stdout)[0]["text"] == "def mean(values):"


# ---- methods and their settings


def test_methods_and_settings_reach_the_engine(csd_on_toy):
    result = csd_on_toy(
        "race", PROMPT, *SHORT, "--always", "--method", "prompt-lookup", "--lookup", "5", "--method", "speculative",
        "--drafter", "tiny", "--k", "3", "--method", "cascade", "--K", "[[1,4,6],[0,2,4],[0,0,5]]",
        "--lenience", "2", "--temperature", "1", "--top-k", "4", "--top-p", "0.9", "--rule", "rejection", "--seed", "7",
        "--json", "-",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    lookup, speculative, cascade = headers_in(result.stdout)
    assert (lookup["method"], lookup["settings"]) == ("prompt lookup", {"k": 5})
    assert speculative["settings"] == {"draft": "tiny", "k": 3}
    assert cascade["settings"]["K"] == [[1, 4, 6], [0, 2, 4], [0, 0, 5]]
    assert cascade["settings"]["lenience"] == 2
    sampling = {
        (h["rule"], h["temperature"], h["top_k"], h["top_p"], h["seed"]) for h in (lookup, speculative, cascade)
    }
    assert sampling == {("rejection", 1, 4, 0.9, 7)}
    assert lookup["eos"] == []
    assert "same distribution, own sample" in result.stderr


@pytest.mark.parametrize(
    ("spelling", "method"),
    [
        ("autoregressive", "autoregressive"),
        ("speculative", "speculative"),
        ("prompt-lookup", "prompt lookup"),
        ("prompt lookup", "prompt lookup"),
        ("cascade", "cascade"),
        ("adaptive", "adaptive cascade"),
        ("adaptive-cascade", "adaptive cascade"),
        ("vertical", "vertical cascade"),
        ("horizontal", "horizontal cascade"),
        ("horizontal-cascade", "horizontal cascade"),
    ],
)
def test_every_spelling_of_a_method_names_one_lane(csd_on_toy, spelling, method):
    result = csd_on_toy("race", PROMPT, *SHORT, "--method", spelling, "--json", "-")
    assert result.exit_code == 0, result.output
    assert methods_in(result.stdout) == [method]
    assert ("reference" if method == "autoregressive" else "not compared") in result.stderr


def test_with_K_the_cascade_races_instead_of_the_adaptive_one(csd_on_toy):
    result = csd_on_toy("race", PROMPT, *SHORT, "--K", "[[1,4,6],[0,2,4],[0,0,5]]", "--json", "-")
    assert result.exit_code == 0, result.output
    assert methods_in(result.stdout) == ["autoregressive", "speculative", "cascade"]


@pytest.fixture
def tiny_model(tmp_path) -> str:
    """A Llama with random weights and a byte-level tokenizer, as a folder."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        ["the fox"], trainers.BpeTrainer(vocab_size=280, special_tokens=["<|end|>"], initial_alphabet=alphabet)
    )
    config = LlamaConfig(
        vocab_size=280, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=64, eos_token_id=0,
    )  # fmt: skip
    torch.manual_seed(0)
    folder = tmp_path / "tiny"
    LlamaForCausalLM(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>").save_pretrained(folder)
    return str(folder)


def test_a_target_without_drafts_races_with_the_methods_that_need_none(
    csd_on_embedded, tiny_model, monkeypatch, tmp_path
):
    monkeypatch.setenv("CSD_HOME", str(tmp_path / "home"))
    options = ("--target", tiny_model, "--device", "cpu", "--dtype", "float64", *SHORT, "--always")
    result = csd_on_embedded("race", "the fox", *options, "--json", "-")
    assert result.exit_code == 0, result.output
    assert methods_in(result.stdout) == ["autoregressive", "prompt lookup", "adaptive cascade"]
    assert result.stderr.count("identical") == 2
    refused = csd_on_embedded("race", "the fox", *options, "--method", "speculative")
    assert refused.exit_code == 2 and "draft" in refused.stderr


# ---- refusals


def assert_refused(result, words):
    assert result.exit_code == 2, result.output
    assert words in result.stderr
    assert "Traceback" not in result.output and not result.stdout.strip()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["   "], "prompt is empty"),
        (["word " * 3000], "reads at most 400"),
        ([PROMPT, "--temperature", "-1"], "Temperature"),
        ([PROMPT, "--temperature", "nan"], "Temperature"),
        ([PROMPT, "--top-p", "0"], "Top-p"),
        ([PROMPT, "--max-new", "0"], "New tokens"),
        ([PROMPT, "--drafter", "nobody"], "nobody"),
        ([PROMPT, "--k", "0"], "k must be a whole number"),
        ([PROMPT, "--method", "cascade", "--lenience", "0.5"], "Lenience"),
        ([PROMPT, "--rule", "guess", "--temperature", "1"], "rule must be one of"),
    ],
)
def test_refused_by_the_engine_with_a_sentence(csd_on_toy, arguments, words):
    result = csd_on_toy("race", *arguments)
    assert_refused(result, words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([STORY, "--family", "nonesuch"], "Choose one of: embedded"),
        ([STORY, "--method", "magic"], "magic"),
        ([STORY, *["--method", "cascade"] * 5], "Choose 1 to 4"),
        ([STORY, "--K", "[[1,2],[0,1]]"], "K must have 3 rows"),
        ([STORY, "--K", "[[5,2,1],[0,4,8],[0,0,8]]"], "cumulative"),
        ([STORY, "--K", "nonsense"], "nonsense"),
        ([STORY, "--draft", "some/draft"], "--draft needs --target"),
        ([STORY, "--target", " "], "name of a model is empty"),
        (
            [STORY, "--json", "/no/such/folder/race.json"],
            "Cannot write /no/such/folder/race.json: its folder does not exist.",
        ),
        ([STORY, "--json", "/"], "Cannot write /: it is a folder."),
        (["caf\udce9"], "UTF-8"),
    ],
)
def test_refused_before_anything_is_loaded(csd_without_models, arguments, words):
    result = csd_without_models("race", *arguments)
    assert_refused(result, words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--dtype", "float7"], "float7"),
        (["--device", "toaster"], "toaster"),
        (["--target", "no/such-folder/here"], "no/such-folder/here"),
    ],
)
def test_a_family_that_cannot_be_loaded_is_refused(csd_on_embedded, monkeypatch, arguments, words):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    result = csd_on_embedded("race", STORY, *arguments)
    assert_refused(result, words)


# ---- other exit codes


def test_exit_code_1_when_a_text_differs(csd_on_toy, monkeypatch):
    """The engine's race, with the last token of the cascade lane replaced on its way out."""

    def tampered(*arguments):
        for event in run_race(*arguments):
            if isinstance(event, LaneFinished) and event.lane == 2:
                *steps, last = event.trace.steps
                wrong = replace(last, tokens=(*last.tokens[:-1], last.tokens[-1] ^ 1))
                event = replace(event, trace=replace(event.trace, steps=(*steps, wrong)))
            yield event

    monkeypatch.setattr(csd.cli.race, "run_race", tampered)
    result = csd_on_toy("race", PROMPT, *SHORT, "--always")
    assert result.exit_code == 1, result.output
    assert "differs at 7" in result.stdout


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
    assert len(traces) == 3
    assert "stopped" in {trace.end for trace in traces}
