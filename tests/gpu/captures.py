"""The tests of the backends that need a GPU, as figures: how many passed, and what failed."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from time import perf_counter

import pytest

from csd.paths import ROOT
from gpu.figures import Figure, Figures

FOLDERS = ("tests/models/backends", "tests/bench")
MARKED = re.compile(r"@gpu\b|\bmark\.gpu\b")
SCALE = "test_scale.py"  # its 7B family is what the step bench loads
OPTIONS = ("-m", "gpu", "-q", "-rs", "-p", "no:cacheprovider", "--continue-on-collection-errors")


class Outcomes:
    """Counts the outcomes of tests, and keeps a figure for each that failed."""

    def __init__(self, figures: Figures):
        self._figures = figures
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.counts["failed"] += 1
            self._figures.add(Figure(report.nodeid, error=_first_error(report)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] += 1
            name = report.nodeid.rpartition("::")[2]
            if report.failed:
                self._figures.add(Figure(name, error=_first_error(report)))
            elif report.passed:
                self._figures.clear(name)


def main(device: str, path: Path, chosen: str) -> int:
    figures = Figures(path)
    outcomes, started = Outcomes(figures), perf_counter()
    code = pytest.main(
        [
            *OPTIONS,
            "-k",
            chosen,
            "--rootdir",
            str(ROOT),
            "-c",
            str(ROOT / "pyproject.toml"),
            *map(str, gpu_test_files()),
        ],
        [outcomes],
    )
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return int(code)
    counts = ", ".join(f"{count} {name}" for name, count in outcomes.counts.items())
    figures.add(Figure("tests", text=f"{counts}, {perf_counter() - started:.0f} s"))
    return 0


def gpu_test_files() -> list[Path]:
    """The files with tests that need a GPU; others may need packages that a machine with a GPU lacks."""
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).glob("test_*.py"))]
    return [file for file in files if file.name != SCALE and MARKED.search(file.read_text(encoding="utf-8"))]


def _first_error(report: pytest.TestReport | pytest.CollectReport) -> str:
    lines = report.longreprtext.strip().splitlines()
    errors = [line[1:].strip() for line in lines if line.startswith("E ")]
    return (errors or lines or ["it failed"])[0][:200]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
