"""The options of `csd bench` alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from csd.cli.options import PromptFile, PromptLimit, PromptMaxNew

QUICK_NEW = 64  # new tokens with --quick
EXTRA_BASELINES = ("compiled",)  # those that only --baseline adds


@dataclass(frozen=True)
class PromptOptions:
    """Which prompts are measured."""

    prompts: PromptFile = None
    only: Annotated[
        str, typer.Option("--only", metavar="KIND", help="Only prompts of this kind.", show_default=False)
    ] = ""
    limit: PromptLimit = 0
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="The paper's comparison: its methods with the published K and lenience, and its wording of GSM8K and "
            "MMLU.",
        ),
    ] = False


@dataclass(frozen=True)
class MeasureOptions:
    """What is measured, and how often."""

    repeats: Annotated[
        int, typer.Option("--repeats", min=1, metavar="N", help="Timed runs of each prompt; the median counts.")
    ] = 3
    max_new: PromptMaxNew = None
    raced: Annotated[
        bool, typer.Option("--race/--no-race", help="Also run all methods at the same time, in a race.")
    ] = True
    baselines: Annotated[
        bool, typer.Option("--baselines/--no-baselines", help="Also run transformers' own ways of decoding.")
    ] = True
    extra: Annotated[
        list[str] | None,
        typer.Option(
            "--baseline",
            metavar="NAME",
            help="An additional baseline: compiled, a loop over the compiled forward pass.",
            show_default=False,
        ),
    ] = None
    growth: Annotated[
        bool | None,
        typer.Option(
            "--growth/--no-growth",
            help="Also time forward passes by context length and width. Default: yes, except with --quick.",
            show_default=False,
        ),
    ] = None
    quick: Annotated[
        bool,
        typer.Option("--quick", help="One prompt of each kind, 64 new tokens, one repeat, nothing that is compiled."),
    ] = False

    def resolve(self) -> MeasureOptions:
        """The same options with everything set that --quick implies."""
        if not self.quick:
            return replace(self, growth=True if self.growth is None else self.growth)
        return replace(self, repeats=1, max_new=self.max_new or QUICK_NEW, growth=bool(self.growth))


Scale = Annotated[
    str,
    typer.Option(
        "--scale",
        metavar="SIZE",
        help="Enlarge the embedded family to a target of 1B, 7B or 13B parameters that gives the same answers.",
    ),
]
ResultFolder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FOLDER",
        help="Folder of the results; runs that it holds are not repeated. Default: a new folder bench-DATE-TIME.",
        show_default=False,
    ),
]
