"""`csd tune`: the best settings for this machine, by measuring."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from csd.cli.exits import refusals, refuse, say
from csd.cli.family import find_spec, load_compiled
from csd.cli.flatten import flatten_options
from csd.cli.options import DeviceOptions, FamilyOptions, PromptFile, PromptLimit, PromptMaxNew
from csd.cli.output import check_writable
from csd.cli.prompts import choose_prompts, runnable_prompts
from csd.cli.terminal import make_console
from csd.models.device import describe_machine
from csd.request.tuned import save_tuned, tuned_path


@flatten_options
def tune(
    *,
    prompts: PromptFile = None,
    limit: PromptLimit = 0,
    family: FamilyOptions,
    repeats: Annotated[int, typer.Option("--repeats", min=1, metavar="N", help="Timed runs of each finalist.")] = 3,
    max_new: PromptMaxNew = None,
    device: DeviceOptions,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the record here instead of where the family looks for it."),
    ] = None,
) -> None:
    """Choose the settings for this machine: k of speculative decoding, K and lenience of the cascade, and the prior
    of the adaptive cascade.

    Measures what a forward pass costs at each width, and what each model predicts along the target's own texts.
    Candidates are simulated on these measurements; the best few are run and timed. The page and the other commands
    then use the record.
    """
    from csd.cli.tune_tables import show_tuned
    from csd.tuning import tune as tuning

    check_writable(out)
    with refusals():
        spec = find_spec(family)
        chosen = choose_prompts(spec, prompts, limit, max_new=max_new)
        models = load_compiled(spec, device)
        kept, notes = runnable_prompts(models, chosen)
        for note in notes:
            say(note)
        tuned, candidates = tuning.tune(models, kept, repeats, say)
    tuned = replace(tuned, machine=describe_machine(models.device, models.dtype, models.placed))
    show_tuned(tuned, candidates, models.costs, make_console())
    path = out or tuned_path(spec, tuned.device)
    try:
        save_tuned(tuned, path)
    except OSError as error:
        refuse(f"Cannot write the record: {error}.")
    say(f"written: {path}")
