"""The project as others receive it: front matter, requirements, the installed command, documentation and file sizes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import requires
from pathlib import Path

import pytest
from test_imports import MODULES, foreign
from typer.main import get_command

from csd.models.catalog import find

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md", "assets/family/README.md")]
PAGES += sorted((ROOT / "docs").glob("*.md"))
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
LARGEST = 10 * 2**20  # bytes: what the Hub takes without LFS


def front_matter() -> dict[str, str]:
    head = re.match(r"---\n(.*?)\n---\n", README, re.DOTALL)
    assert head, "README.md does not begin with front matter"
    pairs = (line.split(":", 1) for line in head[1].splitlines() if not line.startswith(" "))
    return {key.strip(): value.strip().strip('"') for key, value in pairs}


def requirements(*files: str) -> dict[str, str]:
    """Name to version range, names as they are imported."""
    lines = [line for file in files for line in (ROOT / file).read_text().splitlines() if line and line[0] != "#"]
    pairs = (re.match(r"([A-Za-z0-9_.-]+)(.*)", line).groups() for line in lines)
    return {name.lower().replace("-", "_"): versions for name, versions in pairs}


def project() -> str:
    return (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def tracked() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


# ---- a Space, and a package


def test_front_matter():
    head = front_matter()
    assert head["sdk"] == "gradio"
    assert requirements("requirements.txt")["gradio"] == f"=={head['sdk_version']}"
    assert (ROOT / head["app_file"]).is_file()
    assert head["title"] and head["emoji"] and head["license"]
    assert {head["colorFrom"], head["colorTo"]} <= COLOURS
    assert 0 < len(head["short_description"]) <= 60
    assert head["suggested_hardware"] == "cpu-basic"
    assert re.fullmatch(r"3\.\d+", head["python_version"])
    assert f"preload_from_hub:\n  - {find('smollm2').target.id} config.json," in README
    assert head["fullWidth"] in ("true", "false") and head["pinned"] in ("true", "false")


def test_pins_and_ranges():
    found = requirements("requirements.txt")
    assert found["plotly"] == "==7.1.0"
    assert found["torch"] == ">=2.11,<2.14"
    assert found["transformers"] == ">=5.17,<5.40"  # which no longer takes past_key_values
    for name, versions in {**found, **requirements("tests/requirements.txt")}.items():
        assert re.fullmatch(r"==[\d.]+|>=[\d.]+,<[\d.]+", versions), f"{name} needs a pin or a range, not {versions!r}"


def test_the_project_states_each_thing_once():
    """Dependencies come from requirements.txt; version and licence agree wherever they are repeated."""
    text = project()
    assert 'dependencies = { file = "requirements.txt" }' in text and not re.search(r"^dependencies = \[", text, re.M)
    version = re.search(r'^version = "([\d.]+)"', text, re.M)[1]
    assert re.search(rf"^version: {re.escape(version)}$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    licence = re.search(r'^license = "([\w.-]+)"', text, re.M)[1]
    assert licence.lower() == front_matter()["license"]
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_the_csd_command_is_there():
    module, name = re.search(r'^csd = "([\w.]+):(\w+)"', project(), re.M).groups()
    assert callable(getattr(import_module(module), name))


def test_what_is_imported_is_required():
    listed = requirements("requirements.txt", "requirements-ray.txt", "docs/spaces/zerogpu/requirements.txt")
    for module, path in MODULES.items():
        more = requirements("tests/requirements.txt") if module.startswith("csd.traffic.") else {}
        assert foreign(path) <= listed.keys() | more, f"{module} imports what requirements.txt lacks"


@pytest.mark.parametrize("folder", ["tests", "assets"])
def test_what_tests_and_recipes_import_comes_with_it(folder):
    """They may also use what our requirements bring along (numpy, gradio_client; yaml, by PyYAML; websocket, by
    websocket-client; triton, by PyTorch's GPU builds; on ZeroGPU spaces; ray, an extra)."""
    listed = requirements("requirements.txt", "tests/requirements.txt")
    along = {re.split(r"[^A-Za-z0-9_.-]", line)[0] for name in listed for line in requires(name) or ()}
    known = listed.keys() | {name.lower().replace("-", "_") for name in along}
    known |= {"yaml", "websocket", "triton", "spaces", "ray"}
    files = list((ROOT / folder).rglob("*.py"))
    beside = {path.stem for path in (*files, *(ROOT / "assets").rglob("*.py"))}  # tests run the recipes too
    beside |= {path.parent.name for path in files if path.stem == "__init__"}
    for path in files:
        assert foreign(path) - beside <= known, f"{path.name} imports what nothing brings"


# ---- documentation


@cache
def commands() -> dict[str, set[str]]:
    """The command line's commands, with their options."""
    group = get_command(import_module("csd.__main__").app)
    return {
        name: {"--help"}
        | {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        for name, command in group.commands.items()
    }


def code_in(text: str) -> Iterator[str]:
    """The lines of code blocks, without comments, and the code spans."""
    for block in re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        yield from (line.split("  #")[0] for line in block.splitlines())
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            assert link.startswith("https://"), f"{page.name} links to {link}"
            continue
        name, _, anchor = link.partition("#")
        to = (page.parent / name).resolve() if name else page
        assert to.exists(), f"{page.name} links to {link}, which does not exist"
        assert not anchor or anchor in anchors(to), f"{page.name} links to {link}, and there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_files_in_the_documentation_exist(page):
    """Every `csd ...` names a command and options of the command line; every path named in code is a file."""
    for code in code_in(page.read_text(encoding="utf-8")):
        if found := re.match(r"(?:python -m )?csd (\w+)(.*)", code):
            name, rest = found.groups()
            assert name in commands(), f"{page.name} names csd {name}"
            unknown = set(re.findall(r"(?<!\S)--[\w-]+", rest)) - commands()[name]
            assert not unknown, f"{page.name} names {unknown} of csd {name}"
        for path in re.findall(r"(?:assets|tests|csd|docs)/[\w./-]*\w", code):
            assert (ROOT / path).exists(), f"{page.name} names {path}, which does not exist"


def test_the_documentation_names_every_command():
    using = (ROOT / "docs" / "using.md").read_text(encoding="utf-8")
    assert {name for name in commands() if f"`csd {name}`" not in using} == set()


def test_ci_runs_the_readmes_test_command():
    assert "bash tests/run.sh" in README
    assert "bash tests/run.sh" in (ROOT / ".ci" / "run").read_text()
    assert "bash .ci/run" in (ROOT / ".github" / "workflows" / "test.yml").read_text()


def test_the_readme_is_short():
    body = README.split("\n---\n", 1)[1]
    assert len(body.splitlines()) <= 100, "the README is one screen and a half; more goes into docs/"


# ---- files


def test_no_file_is_too_large():
    files = tracked()
    assert files
    assert not [path.name for path in files if path.stat().st_size > LARGEST]


def test_no_path_of_one_machine():
    """No absolute path of a developer's machine in what is shipped."""
    place = re.compile(r"(?<![\w.])/(?:root|work|home/\w+|Users/\w+)/")
    kinds = (".py", ".md", ".txt", ".toml", ".js", ".css", ".sh", ".json", ".yml", ".cff")
    for path in tracked():
        if path.suffix in kinds and path.stat().st_size < 2**20:
            found = place.search(path.read_text(encoding="utf-8"))
            assert not found, f"{path.relative_to(ROOT)} names a path of one machine"
