"""The page comes first: it is built and served without torch, which is imported once somebody has seen it."""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import damaged_start
import pytest
from browser import free_port

import app
from csd.own_files import BundleError
from csd.paths import ASSETS, ROOT
from csd.web.collecting import without_collecting

BLOCKED = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "transformers", "accelerate"):
            raise ModuleNotFoundError(f"{name} is blocked here", name=name)
sys.meta_path.insert(0, Block())
"""
# An import of torch waits until the test has got the page: a page that needed torch would never come.
HELD = """
import pathlib, sys, time
class Hold:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print("torch is asked for", flush=True)
            while not pathlib.Path(sys.argv[1]).exists():
                time.sleep(0.02)
sys.meta_path.insert(0, Hold())
"""
MAIN = "import app; app.main(['--host', '127.0.0.1', '--port', sys.argv[2], '--device', 'cpu'])"


def start(code: str, seen: Path, port: int) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", code + MAIN, str(seen), str(port)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def get(port: int, process: subprocess.Popen, path: str = "", patience: float = 60) -> str:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        assert process.poll() is None, process.stdout.read()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10) as answer:
                return answer.read().decode()
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the page did not come")


@pytest.fixture
def running(tmp_path):
    started = []

    def begin(code: str):
        port, seen = free_port(), tmp_path / "seen"
        started.append(start(code, seen, port))
        return started[-1], port, seen

    yield begin
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_the_page_is_served_where_torch_and_transformers_cannot_be_imported(running):
    process, port, _ = running(BLOCKED)
    assert "Cascade Speculative Drafting" in get(port, process)
    config = get(port, process, "config")
    assert "Race" in config
    assert "recorded-1-" in config and "Recorded on" in config  # a recorded race plays without any model


@pytest.mark.slow
def test_the_page_is_served_before_torch_is_imported(running):
    process, port, seen = running(HELD)
    assert "Cascade Speculative Drafting" in get(port, process)
    seen.touch()
    lines = iter(process.stdout.readline, "")
    assert next(line for line in lines if "torch is asked for" in line)  # the family loads by itself, afterwards


def test_everything_above_the_models_imports_without_torch():
    code = (
        BLOCKED
        + "import csd.run, csd.models.catalog, csd.web.form_events, csd.web.race_events, csd.web.earlier_races, csd.web.compare_events, app"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)


def test_only_components_and_wiring_import_gradio():
    code = (
        "import sys\n"
        "import csd.run, csd.web.race_events, csd.web.earlier_races, csd.web.form_events, csd.web.link_events, csd.web.compare_events, csd.web.what_if, app\n"
        "assert not [name for name in sys.modules if name.partition('.')[0] == 'gradio']\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    users = {
        p.name for p in [ROOT / "app.py", *(ROOT / "csd").rglob("*.py")] if "import gradio" in p.read_text("utf-8")
    }
    tabs = {"race_tab.py", "theory_tab.py", "compare_tab.py", "sliders.py", "staircase.py"}
    parts = {"prompt_row.py", "example_chips.py", "race_form.py", "replays.py", "settings_drawer.py", "puzzle_panel.py"}
    queue = {"gradio_queue.py", "gradio_sessions.py", "giving_turns.py"}
    serving = {*queue, "no_fetching.py", "observing.py", "zerogpu.py"}
    assert users == {
        "page.py",
        "wiring.py",
        "form_wiring.py",
        "compare_wiring.py",
        "theory_wiring.py",
        "navigation.py",
        "api.py",
        *tabs,
        *parts,
        *serving,
    }


@pytest.mark.parametrize(("arguments", "variable"), [(["--family", "nothing"], ""), ([], "nothing")])
def test_a_wrong_family_is_answered_with_the_choices(arguments, variable):
    done = subprocess.run(
        [sys.executable, "app.py", *arguments],
        cwd=ROOT,
        env={**os.environ, "CSD_FAMILY": variable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "Choose one of: embedded" in done.stderr


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http"])
def test_a_port_that_is_none_is_a_sentence(port, capsys):
    with pytest.raises(SystemExit) as end:
        app.make_parser().parse_args(["--port", port])
    told = capsys.readouterr().err
    assert end.value.code == 2 and "argument --port:" in told and port in told
    assert app.make_parser().parse_args(["--port", "65535"]).port == 65535


@pytest.mark.parametrize("count", ["0", "-1", "1025", "10000000000", "9" * 5000, "many", ""])
def test_a_number_of_threads_that_is_none_is_a_sentence(count, capsys):
    with pytest.raises(SystemExit) as end:
        app.make_parser().parse_args([f"--threads={count}"])
    told = capsys.readouterr().err
    assert end.value.code == 2 and "argument --threads: The number of threads" in told
    assert "a whole number from 1 to 1,024" in told and len(told) < 2000
    assert app.make_parser().parse_args(["--threads", "1024"]).threads == 1024


def test_a_log_of_another_kind_is_a_sentence_also_in_the_variable(monkeypatch, capsys):
    for variable, arguments in (("xml", []), ("text", ["--log", "xml"])):
        monkeypatch.setenv("CSD_LOG", variable)
        with pytest.raises(SystemExit) as end:
            app.make_parser().parse_args(arguments)
        told = capsys.readouterr().err
        assert end.value.code == 2 and "Choose text or json, not 'xml', here or in CSD_LOG." in told
    for variable, log in (("", "text"), ("json", "json")):
        monkeypatch.setenv("CSD_LOG", variable)
        assert app.make_parser().parse_args([]).log == log


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            FileNotFoundError(2, "No such file or directory", str(ROOT / "assets/stage/style/base.css")),
            "assets/stage/style/base.css: No such file",
        ),
        (BundleError("lanes.js, line 3: this form of import is not supported"), "lanes.js, line 3"),
        (BundleError("The bundle imports a.js, which does not exist."), "which does not exist. Restore"),
    ],
    ids=["missing", "script", "sentence"],
)
def test_a_missing_or_damaged_file_of_the_page_is_a_sentence_at_the_start(error, said, capsys):
    with pytest.raises(SystemExit) as end, app.own_files(app.make_parser()):
        raise error
    told = capsys.readouterr().err
    assert end.value.code == 1 and said in told and "Restore the folder assets" in told and "Traceback" not in told


@pytest.fixture(scope="module")
def forks():
    """Processes that have imported Gradio, which takes nearly all of a start."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["gradio"])
    return context


def start_with(forks, assets: Path) -> tuple[int, str]:
    """The exit code and the last words of the page over other files than its own."""
    said = assets.with_name("said")
    process = forks.Process(target=damaged_start.start, args=(assets, free_port(), said))
    process.start()
    process.join(120)
    process.kill()
    return process.exitcode, said.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["stage", "stage/style/base.css", "stage/lanes.js", "export/page.html"])
def test_without_a_part_of_the_stage_the_page_ends_in_a_sentence(missing, forks, tmp_path):
    assets = tmp_path / "assets"
    shutil.copytree(ASSETS, assets, ignore=shutil.ignore_patterns("family", "traces"))
    (assets / missing).rename(tmp_path / "gone")
    code, said = start_with(forks, assets)
    name = "base.css" if missing == "stage" else Path(missing).name
    assert code == 1, said
    assert said.startswith("The page cannot start.") and len(said.splitlines()) == 1
    assert name in said and "Restore the folder assets, or install the project again." in said


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("tour-lost.json.gz", b"\x1f\x8bnothing"),
        ("tour-lost.json.gz", b"{}"),
        ("tour.json", b'[{"race": "lost"}]'),
        ("puzzles.json", b'[{"key": "a"'),
        ("puzzles.json", b'[{"key": "a"}]'),
        ("glossary.json", b'[{"word": "a"}]'),
        ("glossary.json", b"{"),
        ("symbols.json", b"{"),
        ("stage/text.js", b"\xff\xfe\x00"),
        ("stage/index.js", b""),
        ("page.css", b"\xff"),
    ],
)
def test_a_damaged_file_of_words_or_races_is_named_at_the_start(file, content, forks, tmp_path):
    assets = tmp_path / "assets"
    shutil.copytree(ASSETS, assets, ignore=shutil.ignore_patterns("family", "traces"))
    (assets / file).write_bytes(content)
    code, said = start_with(forks, assets)
    assert code == 1, said
    assert said.startswith("The page cannot start.") and len(said.splitlines()) == 1
    assert f"{Path(file).name}: " in said and "Restore the folder assets, or install the project again." in said


def test_garbage_is_collected_again_once_the_page_is_there():
    with without_collecting():
        assert not gc.isenabled()
    assert gc.isenabled() and gc.get_freeze_count() > 0
    gc.unfreeze()
