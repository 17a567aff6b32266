"""Joining ES modules into one script: what is supported, and that everything else is refused."""

from __future__ import annotations

import pytest

from csd.own_files import BundleError
from csd.stage.bundle import MODULES, STYLES, join_modules


def join(folder, **modules: str) -> str:
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return join_modules(folder, "index", "Joined")


def test_modules_come_before_those_that_import_them(tmp_path):
    script = join(
        tmp_path,
        index='import { b } from "./b.js";\nimport { a } from "./a.js";\nexport function run() {\n  return a;\n}\n',
        a="export const a = 1;\n",
        b='import { a } from "./a.js";\nexport async function b() {\n  return a;\n}\n',
    )
    assert script.index("const $a = ") < script.index("const $b = ") < script.index("const $index = ")
    assert script.count("const $a = ") == 1
    assert "const { b } = $b;\nconst { a } = $a;\nfunction run() {" in script
    assert "return { run };" in script
    assert script.startswith("const Joined = ")
    assert "import" not in script
    assert "export" not in script


def test_private_names_of_two_modules_do_not_clash(tmp_path):
    """Each module has a scope of its own, so both constants are declared and neither hides the other."""
    script = join(
        tmp_path,
        index='import { a } from "./a.js";\nconst GAP = 2;\nexport const sum = a + GAP;\n',
        a="const GAP = 1;\nexport const a = GAP;\n",
    )
    inner, outer = script.split("const $index = ")
    assert "const GAP = 1;" in inner
    assert "const GAP = 2;" in outer
    assert inner.rstrip().endswith("})();")


def test_a_module_passes_on_what_others_export(tmp_path):
    """Also a name that it uses itself."""
    script = join(
        tmp_path,
        index='import { a } from "./a.js";\nexport { a, b } from "./a.js";\nexport const twice = 2 * a;\n',
        a="export const a = 1;\nexport const b = 2;\n",
    )
    assert script.count("const { a } = $a;") == 1
    assert "return { twice, a: $a.a, b: $a.b };" in script
    with pytest.raises(BundleError, match=r"imports c, which a\.js does not export"):
        join(tmp_path, index='export { c } from "./a.js";\n')


def test_json_becomes_a_constant_of_its_module(tmp_path):
    (tmp_path / "stage").mkdir()
    (tmp_path / "words.json").write_text('[{"word": "α"}]\n', encoding="utf-8")
    line = 'import words from "../words.json" with { type: "json" };'
    script = join(tmp_path / "stage", index=f"{line}\nexport const first = words[0];\n")
    assert 'const words = [{"word": "α"}];\n' in script
    with pytest.raises(BundleError, match=r"missing\.json, which does not exist"):
        join(tmp_path / "stage", index=line.replace("words.json", "missing.json"))


def test_a_module_of_a_folder_beside_is_joined_as_well(tmp_path):
    for name in ("stage", "theory"):
        (tmp_path / name).mkdir()
    (tmp_path / "theory/a.js").write_text('import { b } from "./b.js";\nexport const a = b;\n', encoding="utf-8")
    (tmp_path / "theory/b.js").write_text("export const b = 1;\n", encoding="utf-8")
    line = 'import { a } from "../theory/a.js";\n'
    script = join(tmp_path / "stage", index=f"{line}export const c = a;\n")
    assert script.index("const $b = ") < script.index("const $a = ") < script.index("const $index = ")
    with pytest.raises(BundleError, match=r"Two modules are called a\.js"):
        join(tmp_path / "stage", index=f'{line}import {{ d }} from "./a.js";\n', a="export const d = 1;\n")


@pytest.mark.parametrize(
    "line",
    [
        'import a from "./a.js";',
        'import * as a from "./a.js";',
        'import { a as b } from "./a.js";',
        'import "./a.js";',
        'import { a } from "../a.js";',
        'import { a } from "a";',
        "import { a } from './a.js';",
        "import {",
        'import { a } from "./a.js"; // why',
        '  import { a } from "./a.js";',
        "export default a;",
        "export { a };",
        'export * from "./a.js";',
        "export let a = 1;",
        "export var a = 1;",
        'const a = await import("./a.js");',
        "const here = import.meta.url;",
    ],
)
def test_other_forms_are_refused(tmp_path, line):
    with pytest.raises(BundleError, match=r"index\.js, line 2"):
        join(tmp_path, index=f"// a comment\n{line}\n", a="export const a = 1;\n")


def test_unknown_names_and_files_and_circles_are_refused(tmp_path):
    with pytest.raises(BundleError, match=r"index\.js imports b, which a\.js does not export"):
        join(tmp_path, index='import { a, b } from "./a.js";\n', a="export const a = 1;\n")
    with pytest.raises(BundleError, match=r"index imports gone\.js, which does not exist"):
        join(tmp_path, index='import { a } from "./gone.js";\n')
    with pytest.raises(BundleError, match="index -> a -> index"):
        join(tmp_path, index='import { a } from "./a.js";\n', a='import { b } from "./index.js";\n')


def test_every_style_sheet_is_in_the_bundle():
    assert sorted(STYLES) == sorted(path.stem for path in (MODULES / "style").glob("*.css"))
