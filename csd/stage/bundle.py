"""The stage as a page embeds it: template, its style sheets joined into one, and its ES modules joined into one script.

The modules in assets/stage/ are written for Node and browsers alike. Gradio and the exported file take a single classic
script, so the modules are joined here. Each keeps a scope of its own, so that a name means the same as in the module.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from csd import theme
from csd.own_files import BundleError, own_json, own_text
from csd.paths import ASSETS

MODULES = ASSETS / "stage"

HTML_TEMPLATE = '<div class="cascade-stage" data-state="idle" data-race=""></div>'
STYLES = (  # in the order in which a later rule wins
    "base", "promptline", "headline", "track", "legend", "transport", "timeline", "review", "charts", "present",
    "lanes", "lanetext", "plot", "tooltip", "windows", "slide", "opening",
)  # fmt: skip
CSS = theme.css_variables() + "".join(own_text(MODULES / "style" / f"{name}.css") for name in STYLES)

_IMPORT = re.compile(r'import \{ (\w+(?:, \w+)*) \} from "((?:\.|\.\./\w+)/\w+\.js)";')
_PASSED_ON = re.compile(r'export \{ (\w+(?:, \w+)*) \} from "(\./\w+\.js)";')
_DATA = re.compile(r'import (\w+) from "((?:\.\./)*\w+\.json)" with \{ type: "json" \};')
_EXPORT = re.compile(r"export ((?:async )?function|const|class) (\w+)\b")
_KEYWORD = re.compile(r"\s*(?:import|export)\b")
_DYNAMIC_IMPORT = re.compile(r"\bimport\s*[(.]")


@cache
def stage_script() -> str:
    """A script that defines CascadeStage."""
    return join_modules(MODULES, "index", "CascadeStage")


def gradio_script() -> str:
    """What gr.HTML runs when the stage is loaded: mounts it, shows every new value, and explains the page's terms.

    Before that assets/page/early.js runs it as well, for a stage that is `early`. While the page is drawn its own stage
    waits, and assets/page/drawing.js lets it begin.
    """
    return stage_script() + (
        "const stage = CascadeStage.mount(element.querySelector('.cascade-stage'), { early: props.early });\n"
        "stage.update(props.value);\n"
        "if (!props.early) CascadeStage.explain(document.body);\n"
        "if (!props.early && document.documentElement.hasAttribute('data-drawing')) stage.pause();\n"
        "watch('value', () => stage.update(props.value));\n"
    )


def join_modules(folder: Path, entry: str, name: str) -> str:
    """A script that defines `name` as the exports of a module, with all modules that it imports.

    A module may import JSON, which becomes a constant in it. Raises BundleError for anything but one-line
    `import { a, b } from "./x.js";` or `"../folder/x.js"`, `export { a, b } from "./x.js";`,
    `import a from "../x.json" with { type: "json" };` and `export function|async function|const|class name` at the
    start of a line, for names that the other module does not export, for modules that import each other, and for two
    of one name.
    """
    exports: dict[Path, set[str]] = {}  # by module, in the order in which they are needed
    parts: list[str] = []

    def add(file: Path, path: tuple[Path, ...]) -> None:
        if file in path:
            raise BundleError(f"Modules import each other: {' -> '.join(one.stem for one in (*path, file))}.")
        if file in exports:
            return
        if not file.is_file():
            raise BundleError(f"{path[-1].stem if path else 'The bundle'} imports {file.name}, which does not exist.")
        parsed = _parse(file)
        for other, names in (*parsed.imports, *parsed.passed_on):
            add(other, (*path, file))
            if missing := set(names) - exports[other]:
                raise BundleError(
                    f"{file.name} imports {', '.join(sorted(missing))}, which {other.name} does not export."
                )
        if file.stem in (other.stem for other in exports):
            raise BundleError(f"Two modules are called {file.name}.")
        passed_on = [(other, name) for other, names in parsed.passed_on for name in names]
        exports[file] = {*parsed.exported, *(name for _, name in passed_on)}
        inner = "".join(f"const {{ {', '.join(names)} }} = ${other.stem};\n" for other, names in parsed.imports)
        returned = ", ".join([*parsed.exported, *(f"{name}: ${other.stem}.{name}" for other, name in passed_on)])
        parts.append(f"const ${file.stem} = (() => {{\n{inner}{parsed.body}return {{ {returned} }};\n}})();\n")

    add(folder / f"{entry}.js", ())
    return f'const {name} = (() => {{\n"use strict";\n{"".join(parts)}return ${entry};\n}})();\n'


Names = tuple[Path, list[str]]
"""The file of a module, and names of it."""


@dataclass(frozen=True)
class _Module:
    """What a module imports, what it exports of others as it is, its text without both, and the names of its own."""

    imports: list[Names]
    passed_on: list[Names]
    body: str
    exported: list[str]


def _parse(file: Path) -> _Module:
    imports, passed_on, lines, exported = [], [], [], []
    for number, line in enumerate(own_text(file).splitlines(), 1):
        if found := _IMPORT.fullmatch(line):
            imports.append((_beside(file, found[2]), found[1].split(", ")))
        elif found := _PASSED_ON.fullmatch(line):
            passed_on.append((_beside(file, found[2]), found[1].split(", ")))
        elif found := _DATA.fullmatch(line):
            lines.append(f"const {found[1]} = {_compact(file.parent / found[2])};")
        elif found := _EXPORT.match(line):
            exported.append(found[2])
            lines.append(line.removeprefix("export "))
        elif _KEYWORD.match(line) or _DYNAMIC_IMPORT.search(line):
            raise BundleError(f"{file.name}, line {number}: this form of import or export is not supported: {line!r}")
        else:
            lines.append(line)
    return _Module(imports, passed_on, "\n".join(lines) + "\n", exported)


def _beside(file: Path, address: str) -> Path:
    """A module that a file imports: beside it, or in a folder beside its own."""
    *up, name = address.removeprefix("./").removeprefix("../").split("/")
    return file.parent.parent / up[0] / name if up else file.parent / name


def _compact(file: Path) -> str:
    """A JSON file as an expression of JavaScript."""
    if not file.is_file():
        raise BundleError(f"A module imports {file.name}, which does not exist.")
    return json.dumps(own_json(file), ensure_ascii=False)
