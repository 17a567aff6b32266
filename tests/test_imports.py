"""Who may import whom, read from the source with ast: imports run one way, and torch stays out of the first paint."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"torch", "transformers", "accelerate"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in [ROOT / "app.py", *sorted((ROOT / "csd").rglob("*.py"))]}

# The layers, lowest first: a module may import from its own package and from the layers below it. Packages on one layer
# do not import each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("csd.paths", "csd.ranges", "csd.sentences", "csd.theme"),
    ("csd.own_files", "csd.typeface"),
    ("csd.record",),
    ("csd.decoding",),
    ("csd.models", "csd.request.request"),
    ("csd.run", "csd.roles"),
    ("csd.request",),
    ("csd.api", "csd.workers"),
    ("csd.plots", "csd.stage"),
    ("csd.theory", "csd.tuning", "csd.bench", "csd.traffic"),
    ("csd.site",),
    ("csd.web", "csd.cli"),
    ("app", "csd.__main__"),
)
# Libraries by package; a longer name counts before a shorter one.
LIBRARIES: dict[str, set[str]] = {
    "csd.record": {"pydantic"},
    "csd.decoding": {"torch"},
    "csd.decoding.methods": {"pydantic"},
    "csd.models": HEAVY | {"gguf", "huggingface_hub", "psutil", "tokenizers", "tqdm"},
    "csd.run": {"torch"},
    "csd.request": {"pydantic"},
    "csd.plots": {"plotly"},
    "csd.theory.curves": {"plotly"},
    "csd.theory.figures": {"plotly"},
    "csd.tuning": {"torch"},
    "csd.bench": HEAVY | {"plotly", "psutil"},
    "csd.site.upload": {"huggingface_hub"},
    "csd.traffic": {"plotly", "psutil"},
    "csd.traffic.run": {"gevent", "httpx", "locust"},
    "csd.traffic.visit": {"httpx"},
    "csd.workers.ray_serve": {"ray"},
    "csd.web": {"gradio", "starlette"},
    "csd.web.slow_clients": {"uvicorn"},
    "csd.web.metrics": {"prometheus_client", "psutil", "starlette"},
    "csd.web.zerogpu": {"gradio", "spaces", "torch"},
    "csd.cli": {"typer", "rich", "torch"},
}


def layer_of(module: str) -> int:
    return next(i for i, packages in enumerate(LAYERS) for package in packages if within(module, package))


def package_of(module: str) -> str:
    return next(package for packages in LAYERS for package in packages if within(module, package))


def libraries_of(module: str) -> set[str]:
    longest = max((name for name in LIBRARIES if within(module, name)), key=len, default="")
    return LIBRARIES.get(longest, set())


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


@cache
def imports(path: Path, at_load: bool = False) -> tuple[str, ...]:
    """Full names of what a file imports; `at_load`: only what runs when the module is imported."""
    return tuple(found(path, at_load))


def found(path: Path, at_load: bool) -> Iterator[str]:
    for node in nodes(ast.parse(path.read_text(encoding="utf-8")), at_load):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name}: relative imports are not used here"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else node.module


def nodes(tree: ast.AST, at_load: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if at_load and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            if not at_load:
                yield from (inner for part in node.body for inner in ast.walk(part))
            continue
        yield node
        yield from nodes(node, at_load)


def foreign(path: Path) -> set[str]:
    """Top-level packages from outside the standard library and this project."""
    packages = {name.split(".")[0] for name in imports(path)}
    return {name for name in packages if name not in sys.stdlib_module_names and name not in ("csd", "app")}


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_one_way(module):
    if module == "csd":
        return
    for name in imports(MODULES[module]):
        if name.split(".")[0] in ("csd", "app") and name != "csd":
            below = layer_of(name) < layer_of(module)
            assert below or package_of(name) == package_of(module), f"{module} must not import {name}"
    others = foreign(MODULES[module]) - libraries_of(module)
    assert not others, f"{module} must not import {others}"


def loaded_with(module: str) -> set[str]:
    """Every name that is imported when a module is, through all of ours; parents' __init__ included."""
    seen: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        parents = [name.rsplit(".", i)[0] for i in range(1, name.count(".") + 1)]
        todo += [parent for parent in parents if parent in MODULES]
        if name in MODULES:
            todo += imports(MODULES[name], at_load=True)
    return seen


HEAVY_PACKAGES = (
    "csd.decoding.acceptance",
    "csd.decoding.choice",
    "csd.decoding.noise",
    "csd.decoding.sampling",
    "csd.decoding.transfer",
    "csd.models",
    "csd.bench.baselines",
    "csd.bench.enlarge",
    "csd.bench.scale",
)
# family: because of what must be set before torch is imported (csd.models.backends.process)
LIGHT_MODELS = tuple(f"csd.models.{name}" for name in ("catalog", "device", "family", "memory", "spec"))
LIGHT = [name for name in MODULES if not any(within(name, package) for package in HEAVY_PACKAGES)]


@pytest.mark.parametrize("module", [*LIGHT, *LIGHT_MODELS])
def test_no_torch_before_it_is_needed(module):
    heavy = {name for name in loaded_with(module) if name.split(".")[0] in HEAVY}
    assert not heavy, f"importing {module} imports {heavy}"


def test_the_reader_of_imports_sees_them():
    """The rules above hold nothing if imports go unseen: known ones must be found, lazy and typing ones kept apart."""
    assert "torch" in set(imports(MODULES["csd.decoding.acceptance"], at_load=True))
    assert "csd.models.family" in set(imports(MODULES["csd.run"]))
    assert "csd.models.family" not in set(imports(MODULES["csd.run"], at_load=True))
    assert "torch" in loaded_with("csd.decoding.acceptance")
    assert "gradio" in loaded_with("csd.web.page")


def test_the_document_has_the_same_layers():
    """docs/architecture.md lists the packages layer by layer, the highest first."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", text, re.MULTILINE)
    told = {int(layer): {module_of(name) for name in re.findall(r"`(.*?)`", packages)} for layer, packages in rows}
    assert told == {layer: set(packages) for layer, packages in enumerate(LAYERS)}


def module_of(place: str) -> str:
    return place.removesuffix(".py").replace("/", ".")
