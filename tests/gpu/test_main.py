"""The runner: what is done is not repeated, what is missing is said, and the end is a table."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gpu.__main__ import INCOMPLETE, REFUSED, main
from gpu.steps import Step

WRITE = "import json, sys; open(sys.argv[1], 'a').write(json.dumps({figure}) + chr(10)); sys.exit({code})"


@dataclass(frozen=True)
class Fake(Step):
    """A step that writes one figure and ends with a code."""

    text: str = "fine"
    error: str = ""
    code: int = 0
    needs: tuple[str, ...] = ()

    def command(self, device: str, folder: Path) -> list[str]:
        script = WRITE.format(figure={"what": self.module, "text": self.text, "error": self.error}, code=self.code)
        return [sys.executable, "-c", script, str(self.path(folder))]


VERSIONS = Fake("versions", "device", 20, "", text="Some GPU")
ONE, TWO = Fake("one", "first", 20, "this"), Fake("two", "second", 20, "that")


@pytest.fixture
def call(tmp_path, capsys):
    """Runs the steps into one folder; returns the exit code and what was printed."""

    def run(*steps: Step, arguments: tuple[str, ...] = ()) -> tuple[int, str]:
        code = main(["--out", str(tmp_path / "results"), *arguments], (VERSIONS, *steps))
        return code, capsys.readouterr().out

    return run


def counted(tmp_path: Path, step: str) -> int:
    return len((tmp_path / "results" / f"{step}.jsonl").read_text().splitlines())


def test_a_second_call_goes_on_where_the_first_ended(call, tmp_path):
    code, said = call(ONE, replace(TWO, code=3, text="not yet"))
    assert code == INCOMPLETE
    assert "=== one: this (at most 20 s)" in said and "| two | (failed) |" in said
    code, said = call(ONE, TWO)
    assert code == 0 and "=== one: already done" in said and "=== two: done" in said
    assert (counted(tmp_path, "one"), counted(tmp_path, "two")) == (1, 2)
    table = (tmp_path / "results" / "table.md").read_text()
    assert table in said and "device Some GPU" in table
    assert (
        "| one | first | fine |  |" in table
        and "| two | second | fine |  |" in table
        and "(" not in table.split("Of the")[0]
    )


def test_again_repeats_and_only_chooses(call, tmp_path):
    call(ONE, TWO)
    compiled = tmp_path / "results" / "inductor" / "kernel"
    compiled.parent.mkdir()
    compiled.touch()
    assert call(ONE, TWO)[0] == 0 and compiled.exists()
    code, said = call(ONE, TWO, arguments=("--only", "two", "--again"))
    assert not compiled.exists()
    assert code == 0 and "=== one" not in said and "=== two: done" in said
    assert "| one | first | fine |" in said  # the table has what was measured before
    assert (counted(tmp_path, "one"), counted(tmp_path, "two")) == (1, 1)


def test_a_step_without_its_packages_or_without_time_is_left_out_with_a_sentence(call):
    code, said = call(replace(ONE, needs=("torch", "no_such_package")), TWO)
    assert code == INCOMPLETE and "| one | (left out) | needs no_such_package: pip install no_such_package |" in said
    assert "=== two: done" in said
    code, said = call(replace(ONE, name="three"), arguments=("--minutes", "0"))
    assert code == INCOMPLETE and "| three | (not run) | no time was left; call again to go on |" in said


def test_a_figure_that_failed_makes_the_end_a_failure(call):
    code, said = call(replace(ONE, error="RuntimeError: no"))
    assert code == INCOMPLETE and "| one | first | failed: RuntimeError: no |  |" in said


def test_figures_of_two_machines_are_not_mixed(call, tmp_path):
    call(ONE)
    file = tmp_path / "results" / "machine.json"
    assert json.loads(file.read_text()) == {"device": "Some GPU"}
    file.write_text('{"device": "Another GPU"}')
    code, said = call(ONE)
    assert code == REFUSED and "(device Another GPU, now Some GPU)" in said and "--out" in said


def test_a_folder_of_something_else_is_left_alone(call, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "thesis.tex").write_text("")
    code, said = call(ONE)
    assert code == REFUSED and "contains something other" in said
    (tmp_path / "results" / "thesis.tex").unlink()
    (tmp_path / "results").rmdir()
    (tmp_path / "results").write_text("a file")
    code, said = call(ONE)
    assert code == REFUSED and "cannot be used" in said


def test_nothing_is_filled_where_the_versions_are_not_known(tmp_path, capsys):
    steps = replace(VERSIONS, code=3, text="no GPU"), ONE
    assert main(["--out", str(tmp_path / "results")], steps) == REFUSED
    said = capsys.readouterr().out
    assert "Nothing was measured" in said and "=== one" not in said
