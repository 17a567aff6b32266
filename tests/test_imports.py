"""Who may import whom, read from the source with ast: imports run one way, and torch stays out of the first paint."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"torch", "transformers", "accelerate"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in [ROOT / "app.py", *sorted((ROOT / "csd").rglob("*.py"))]}

# The longest matching name counts: what of csd a module may import anywhere, and which packages that are not ours.
RULES: dict[str, tuple[set[str], set[str]]] = {
    "app": ({"csd.ui", "csd.models.catalog"}, set()),
    "csd": (set(), set()),
    "csd.trace": (set(), set()),
    "csd.decoding": ({"csd.trace", "csd.decoding"}, {"torch"}),
    "csd.models": ({"csd.trace", "csd.decoding", "csd.models"}, HEAVY | {"huggingface_hub"}),
    "csd.run": ({"csd.trace", "csd.decoding", "csd.models"}, {"torch"}),
    "csd.analysis": ({"csd.trace", "csd.decoding", "csd.models", "csd.run", "csd.analysis"}, {"torch"}),
    "csd.analysis.theory": (set(), set()),
    "csd.analysis.metrics": ({"csd.trace"}, set()),
    "csd.ui": ({"csd"}, set()),
    "csd.ui.theme": (set(), set()),
    "csd.ui.stage": ({"csd.trace", "csd.run", "csd.analysis", "csd.ui.theme"}, set()),
    "csd.ui.theory": ({"csd.trace", "csd.analysis", "csd.decoding.methods"}, set()),
    "csd.ui.figures": ({"csd.trace", "csd.analysis", "csd.ui.theme", "csd.ui.theory"}, {"plotly"}),
    "csd.ui.report": ({"csd.analysis", "csd.models.catalog", "csd.ui.figures", "csd.ui.theme"}, {"plotly"}),
    "csd.ui.layout": ({"csd"}, {"gradio"}),
    "csd.terminal": (
        {"csd.trace", "csd.run", "csd.analysis", "csd.models.catalog", "csd.ui.report", "csd.ui.theme"},
        {"rich"},
    ),
    "csd.__main__": ({"csd"}, {"typer", "torch"}),
}


def rule(module: str) -> tuple[set[str], set[str]]:
    return RULES[max((name for name in RULES if within(module, name)), key=len)]


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def imports(path: Path, at_load: bool = False) -> Iterator[str]:
    """Full names of what a file imports; `at_load`: only what runs when the module is imported."""
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
    found = {name.split(".")[0] for name in imports(path)}
    return {name for name in found if name not in sys.stdlib_module_names and name not in ("csd", "app")}


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_one_way(module):
    ours, others = rule(module)
    for name in imports(MODULES[module]):
        if name.split(".")[0] in ("csd", "app"):
            assert any(within(name, allowed) for allowed in ours), f"{module} must not import {name}"
    assert foreign(MODULES[module]) <= others, f"{module} must not import {foreign(MODULES[module]) - others}"


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


LIGHT = [name for name in MODULES if not within(name, "csd.decoding.accept") and not within(name, "csd.models")]


@pytest.mark.parametrize("module", [*LIGHT, "csd.models", "csd.models.catalog"])
def test_no_torch_before_it_is_needed(module):
    heavy = {name for name in loaded_with(module) if name.split(".")[0] in HEAVY}
    assert not heavy, f"importing {module} imports {heavy}"


def test_the_reader_of_imports_sees_them():
    """The rules above hold nothing if imports go unseen: known ones must be found, lazy and typing ones kept apart."""
    assert "torch" in set(imports(MODULES["csd.decoding.accept"], at_load=True))
    assert "csd.models.family" in set(imports(MODULES["csd.run"]))
    assert "csd.models.family" not in set(imports(MODULES["csd.run"], at_load=True))
    assert "torch" in loaded_with("csd.decoding.accept")
    assert "gradio" in loaded_with("csd.ui.layout")
