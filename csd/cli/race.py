"""`csd race`: several decoding methods on one prompt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from csd.cli.exits import DIFFERS, INTERRUPTED, interruptible, refusals, refuse, say
from csd.cli.family import find_spec, load
from csd.cli.flatten import flatten_options
from csd.cli.options import DeviceOptions, FamilyOptions, MethodOptions, RaceMethods, SamplingOptions, form_fields
from csd.cli.output import STDOUT, check_writable, write_json
from csd.cli.race_display import show_race
from csd.cli.race_table import show_results
from csd.cli.request import make_race_request
from csd.cli.terminal import make_console
from csd.models.device import describe_machine
from csd.record.race import Race
from csd.record.recording import Recording, today
from csd.run import run_race


@flatten_options
def race(
    prompt: Annotated[
        str,
        typer.Argument(
            metavar="PROMPT", help="The text to continue; - reads it from standard input.", show_default=False
        ),
    ],
    *,
    family: FamilyOptions,
    method: RaceMethods = None,
    sampling: SamplingOptions,
    settings: MethodOptions,
    device: DeviceOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write the traces of all lanes to FILE; - prints them, and only them, to standard output.",
        ),
    ] = None,
) -> None:
    """Race several decoding methods on one prompt.

    \b
    Examples:
      csd race "Once upon a time"
      csd race "Once upon a time" --temperature 0.8 --seed 3
      csd race "def mean(values):" --method cascade --method prompt-lookup --json race.json
      csd race - --target Qwen/Qwen3-1.7B --draft Qwen/Qwen3-0.6B < prompt.txt

    \b
    Exit codes:
      0    the race is finished, and the texts agree
      1    a text differs from that of autoregressive decoding, and not at a near-tie
      2    invalid input, or a family that cannot be loaded
      130  interrupted; with --json, the traces so far are written
    """
    console = make_console(to_stderr=output == STDOUT)
    check_writable(output)
    given = {"prompt": _read_prompt(prompt), **form_fields(sampling), **form_fields(settings)}
    with refusals():
        spec = find_spec(family)
        request = make_race_request(spec, device.device, method, given)
        models = load(spec, device)
        with interruptible() as stopped:
            say(f"racing {len(request.methods)} lanes")
            finished = Race(show_race(run_race(models, request, stopped), console))
            interrupted = stopped()
    if output is not None:
        write_json(
            output,
            Recording(
                finished.traces, machine=describe_machine(models.device, models.dtype, models.placed), date=today()
            ).to_dict(),
        )
    show_results(finished, console)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if any(verdict.is_fault for verdict in finished.verdicts):
        raise typer.Exit(DIFFERS)


def _read_prompt(text: str) -> str:
    """The prompt, or standard input without its final line break, after which code is continued less well."""
    try:
        text = sys.stdin.read().removesuffix("\n") if text == "-" else text
        text.encode()
    except UnicodeError:
        refuse("The prompt is not valid UTF-8. Convert it to UTF-8.")
    return text
