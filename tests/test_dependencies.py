"""The lock file and the list of licences: complete, pinned with hashes, within the ranges of requirements.txt."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from test_packaging import ROOT

OF_TORCH = re.compile(r"nvidia-|cuda-|triton|torch$")  # chosen by the machine, see docs/deploy.md
COPYLEFT = re.compile(r"\b[AL]?GPL|UNKNOWN|Proprietary", re.IGNORECASE)


def lines(name: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", "")
    return [line for line in text.splitlines() if line and line[0] not in " #"]


def locked() -> dict[str, list[str]]:
    """Name to the pins of its lines; a package may have several, for different versions of Python."""
    found: dict[str, list[str]] = {}
    for line in lines("requirements.lock"):
        name, version = re.match(r"([A-Za-z0-9_.-]+)==(\S+)", line).groups()
        found.setdefault(canonicalize_name(name), []).append(version)
    return found


def installed(file: str = "requirements.txt") -> set[str]:
    """What a file of requirements leads to on this machine, as the installed packages say."""
    todo, seen = [Requirement(line) for line in lines(file)], set()
    while todo:
        one = todo.pop()
        name = canonicalize_name(one.name)
        if one.marker and not any(one.marker.evaluate({"extra": extra}) for extra in one.extras or {""}):
            continue
        if name in seen or OF_TORCH.match(name):
            continue
        try:
            inner = requires(name) or []
        except PackageNotFoundError:
            continue
        seen.add(name)
        for text in inner:
            made = Requirement(text)
            if made.marker is None or any(made.marker.evaluate({"extra": extra}) for extra in one.extras or {""}):
                made.marker = None
                todo.append(made)
    return seen


def test_the_lock_file_has_hashes_and_no_build_of_pytorch():
    for line in lines("requirements.lock"):
        assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", line)) >= 1, line[:80]
    assert not [name for name in locked() if OF_TORCH.match(name)]


def test_the_lock_file_is_within_the_ranges():
    pins = locked()
    for line in lines("requirements.txt"):
        wanted = Requirement(line)
        if wanted.name != "torch":
            assert all(version in wanted.specifier for version in pins[canonicalize_name(wanted.name)]), line


def test_the_lock_file_has_everything_that_is_installed():
    found = installed()
    assert len(found) > 40
    assert found <= locked().keys()


def test_every_locked_package_has_a_licence():
    text = (ROOT / "docs" / "licenses.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \[?([a-z0-9.-]+)\]?(?:\([^)]*\))? \| (.+) \|$", text, re.MULTILINE))
    del rows["package"], rows["---"]
    assert rows.keys() == locked().keys() | {"torch"}
    assert not {name: licence for name, licence in rows.items() if COPYLEFT.search(licence)}


def test_every_environment_variable_is_in_the_one_table():
    code = [ROOT / "app.py", *(ROOT / "csd").rglob("*.py")]
    read = {name for file in code for name in re.findall(r"\bCSD_[A-Z_]+\b", file.read_text(encoding="utf-8"))}
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    table = page.partition("## Environment variables\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert set(re.findall(r"CSD_[A-Z_]+", " ".join(rows))) == read


def test_mcp_comes_with_the_same_gradio():
    pin = next(line for line in lines("requirements.txt") if line.startswith("gradio=="))
    assert lines("requirements-mcp.txt") == [pin.replace("gradio", "gradio[mcp]")]


def test_ray_is_what_was_tried():
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    [tried] = re.findall(r"Ray (\d+\.\d+\.\d+)", page)
    assert tried in Requirement(*lines("requirements-ray.txt")).specifier


def test_what_ray_brings_has_a_licence():
    pytest.importorskip("ray", reason="needs the extra ray: pip install -r requirements-ray.txt")
    section = (ROOT / "docs" / "licenses.md").read_text(encoding="utf-8").partition("## The extra ray\n")[2]
    listed = set(re.findall(r"[a-z0-9-]+", re.sub(r"^- .*?: ", "", section, flags=re.MULTILINE)))
    assert installed("requirements-ray.txt") - locked().keys() <= listed
