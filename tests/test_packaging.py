"""The project as others receive it: the Space's front matter, requirements, file sizes, and the two commands."""

from __future__ import annotations

import re
import subprocess
from importlib.metadata import requires
from pathlib import Path

import pytest
from test_imports import MODULES, foreign

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
LARGEST = 10 * 2**20  # bytes: what the Hub takes without LFS


def front_matter() -> dict[str, str]:
    head = re.match(r"---\n(.*?)\n---\n", README, re.DOTALL)
    assert head, "README.md does not begin with front matter"
    pairs = (line.split(":", 1) for line in head[1].splitlines())
    return {key.strip(): value.strip().strip('"') for key, value in pairs}


def requirements(*files: str) -> dict[str, str]:
    """Name to version range, names as they are imported."""
    lines = [line for file in files for line in (ROOT / file).read_text().splitlines() if line and line[0] != "#"]
    pairs = (re.match(r"([A-Za-z0-9_.-]+)(.*)", line).groups() for line in lines)
    return {name.lower().replace("-", "_"): versions for name, versions in pairs}


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
    assert head["fullWidth"] in ("true", "false") and head["pinned"] in ("true", "false")


def test_pins_and_ranges():
    found = requirements("requirements.txt")
    assert found["plotly"] == "==7.1.0"
    assert found["torch"] == ">=2.11,<2.14"
    assert found["transformers"] == ">=5.17,<6"
    for name, versions in {**found, **requirements("tests/requirements.txt")}.items():
        assert re.fullmatch(r"==[\d.]+|>=[\d.]+,<[\d.]+", versions), f"{name} needs a pin or a range, not {versions!r}"


def test_what_is_imported_is_required():
    listed = requirements("requirements.txt")
    for module, path in MODULES.items():
        assert foreign(path) <= listed.keys(), f"{module} imports what requirements.txt lacks"


@pytest.mark.parametrize("folder", ["tests", "assets"])
def test_what_tests_and_recipes_import_comes_with_it(folder):
    """They may also use what our requirements bring along themselves (numpy, gradio_client, tokenizers)."""
    listed = requirements("requirements.txt", "tests/requirements.txt")
    along = {re.split(r"[^A-Za-z0-9_.-]", line)[0] for name in listed for line in requires(name) or ()}
    known = listed.keys() | {name.lower().replace("-", "_") for name in along}
    files = list((ROOT / folder).rglob("*.py"))
    beside = {path.stem for path in (*files, *(ROOT / "assets").rglob("*.py"))}  # tests run the recipes too
    for path in files:
        assert foreign(path) - beside <= known, f"{path.name} imports what nothing brings"


def test_no_file_is_too_large():
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("this is no git checkout")
    files = [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]
    assert files
    large = [path.name for path in files if path.stat().st_size > LARGEST]
    assert not large


def test_readme_commands():
    """CI runs the README's test command; what the README names is there."""
    assert "bash tests/run.sh" in README
    assert "bash tests/run.sh" in (ROOT / ".ci" / "run").read_text()
    for place in re.findall(r"(?:assets|tests|csd)/[\w./-]+\.\w+", README):
        assert (ROOT / place).exists(), f"README.md names {place}, which is not there"


def test_no_place_of_this_machine():
    """No absolute path of a developer's machine in what is shipped."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("this is no git checkout")
    place = re.compile(r"(?<![\w.])/(?:root|work|home/\w+|Users/\w+)/")
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        if (
            path.suffix in (".py", ".md", ".txt", ".toml", ".js", ".css", ".sh", ".json")
            and path.stat().st_size < 2**20
        ):
            assert not place.search(path.read_text(encoding="utf-8")), f"{name} names a place of one machine"
