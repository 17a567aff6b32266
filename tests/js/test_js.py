"""The stage's modules outside a browser: Node runs their unit tests and parses every script that the project ships."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from csd.paths import ASSETS
from csd.site.theory import theory_script
from csd.stage import bundle, tour
from csd.web import puzzle_panel, scripts, sliders, staircase, theory_tab

HERE = Path(__file__).parent
THEORY = list((ASSETS / "theory").glob("*.js"))
PAGE = list((ASSETS / "page").glob("*.js"))
TOUR = list(tour.MODULES.glob("*.js"))
MODULES = sorted([*bundle.MODULES.glob("*.js"), *(ASSETS / "controls").glob("*.js"), *PAGE, *TOUR, *THEORY])


def find_node() -> str | None:
    path = shutil.which("node")
    if path is None:
        return None
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.", version)
    return path if found and int(found[1]) >= 20 else None


NODE = find_node()
needs_node = pytest.mark.skipif(NODE is None, reason="Node 20 or newer is not installed")


def run_node(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(NODE), *arguments], capture_output=True, text=True, timeout=120, check=False)


CALL = re.compile(r"CascadePage\.(\w+)\(")


@needs_node
def test_unit_tests():
    done = run_node("--test", *(str(file) for file in sorted(HERE.glob("*.test.mjs"))))
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed is not None, done.stdout
    assert int(passed[1]) > 30, done.stdout


@needs_node
def test_every_module_parses():
    """In one process; a module that does not parse is named."""
    script = """
        import { readFileSync } from "node:fs";
        import { SourceTextModule } from "node:vm";
        for (const file of process.argv.slice(1)) new SourceTextModule(readFileSync(file, "utf8"), { identifier: file });
    """
    done = run_node("--experimental-vm-modules", "--input-type=module", "--eval", script, *map(str, MODULES))
    assert done.returncode == 0, done.stderr


@needs_node
def test_modules_can_be_imported():
    """Every imported name is exported, and nothing touches the page before it is mounted."""
    script = f"import({str((bundle.MODULES / 'index.js').as_uri())!r}).then((stage) => console.log(Object.keys(stage)))"
    done = run_node("--input-type=module", "--eval", script)
    assert done.stdout.strip() == "[ 'explain', 'mount' ]", done.stderr


@needs_node
@pytest.mark.parametrize(
    "name",
    [
        "stage",
        "gradio",
        "page",
        "early",
        "tour",
        "export",
        "sliders",
        "staircase",
        "puzzles",
        "what-if",
        "step",
        "site",
    ],
)
def test_scripts_parse(name, tmp_path):
    text = {
        "stage": bundle.stage_script,
        "gradio": lambda: in_component(bundle.gradio_script()),
        "sliders": lambda: in_component(sliders.SCRIPT),
        "staircase": lambda: in_component(staircase.SCRIPT),
        "puzzles": lambda: in_component(puzzle_panel.SCRIPT),
        "what-if": lambda: in_component(theory_tab.SCRIPT),
        "step": lambda: in_component(theory_tab.STEP_SCRIPT),
        "page": lambda: scripts.PAGE,
        "early": lambda: scripts.EARLY_SCRIPT,
        "tour": lambda: in_component(tour.script()),
        "export": lambda: "".join((ASSETS / "export" / name).read_text() for name in ("ground.js", "page.js")),
        "site": theory_script,
    }[name]()
    (tmp_path / "script.js").write_text(text, encoding="utf-8")
    done = run_node("--check", str(tmp_path / "script.js"))
    assert done.returncode == 0, done.stderr


def in_component(script: str) -> str:
    """A script as gr.HTML runs it when it is loaded."""
    return f"function load(element, props, watch, trigger) {{\n{script}}}\n"


def every_script() -> str:
    served = (
        tour.script() + sliders.SCRIPT + staircase.SCRIPT + puzzle_panel.SCRIPT + scripts.PAGE + scripts.EARLY_SCRIPT
    )
    return served + theory_tab.SCRIPT + theory_tab.STEP_SCRIPT + theory_script()


def test_every_module_is_used():
    script = every_script()
    for file in MODULES:
        assert f"const ${file.stem} = " in script, f"no module imports {file.name}"


@needs_node
def test_the_page_has_every_function_that_an_event_names():
    texts = [text for text in vars(scripts).values() if isinstance(text, str)]
    called = {name for text in (*texts, scripts.download_figures("png")) for name in CALL.findall(text)}
    script = (
        f"import({str((ASSETS / 'page' / 'index.js').as_uri())!r}).then((page) => console.log(...Object.keys(page)))"
    )
    exported = run_node("--input-type=module", "--eval", script).stdout.split()
    assert set(exported) == called


def test_modules_insert_no_markup():
    own = 'new Function("element", "props", "watch", script)'  # early.js runs a script of the page as Gradio does
    script = every_script().replace(own, "", 1)
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert word not in script
