"""`csd load`: simulated visitors against a served page."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from csd.cli.exits import DIFFERS, refuse, say
from csd.cli.terminal import make_console, print_table

NEEDS = "csd load needs locust and gevent. Install them: python -m pip install locust"


def load(
    url: Annotated[str, typer.Argument(metavar="URL", help="The page's address, such as http://127.0.0.1:7860.")],
    visitors: Annotated[int, typer.Option("--visitors", min=1, metavar="N", help="Visitors at the same time.")] = 50,
    seconds: Annotated[float, typer.Option("--seconds", min=1, metavar="S", help="How long they stay.")] = 60,
    pause: Annotated[
        float, typer.Option("--pause", min=0, metavar="S", help="Mean seconds between two actions of a visitor.")
    ] = 10,
    tokens: Annotated[int, typer.Option("--tokens", min=1, metavar="N", help="Most new tokens of a race.")] = 48,
    patience: Annotated[
        float, typer.Option("--patience", min=1, metavar="S", help="Seconds after which an answer counts as hung.")
    ] = 180,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of what visitors do.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Write load.json and load.html into this folder."),
    ] = None,
) -> None:
    """Simulate visitors of a page who race, stop, reload, leave and upload files, and check each answer.

    Each comes from an address of its own (X-Forwarded-For), as behind a proxy. Where the page itself listens at the
    address, on this machine, its memory, threads and files are watched. The last line of standard output is a summary
    as JSON.

    \b
    Examples:
      csd load http://127.0.0.1:7860 --visitors 5 --seconds 30
      csd load http://127.0.0.1:7860 --visitors 50 --seconds 600 --out load

    \b
    Exit codes:
      0    every answer was the visitor's own, with equal lanes, or a refusal in a sentence
      1    an answer was lost, somebody else's, late, or had lanes that differ, or no race ended
      2    no page answers at the address, or locust is missing
    """
    try:
        from csd.traffic.run import LoadPlan, run_load
    except ImportError as error:
        refuse(f"{NEEDS} ({error.name} is missing)")
    from csd.models.device import processor_name
    from csd.traffic.page import to_page
    from csd.traffic.summary import make_tables, summarize

    plan = LoadPlan(url.rstrip("/"), visitors, seconds, pause, tokens, patience, seed)
    try:
        run = run_load(plan, f"{processor_name()}, {os.cpu_count()} cores", say)
    except ValueError as error:
        refuse(error)
    console = make_console()
    for table in make_tables(run):
        print_table(console, table)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        (out / "load.json").write_text(json.dumps({"summary": summarize(run), **run.to_dict()}), encoding="utf-8")
        (out / "load.html").write_text(to_page(run), encoding="utf-8")
        say(f"results: {out}")
    for fault in run.faults[:20]:
        say(f"{fault.kind} at {fault.start:.0f} s, {fault.outcome}: {fault.sentence}")
    typer.echo(json.dumps(summarize(run), separators=(",", ":")))
    if not run.has_raced:
        say("No race ended: let the visitors stay longer (--seconds), or see in the table why the page refuses them.")
    if run.faults or not run.has_raced:
        raise typer.Exit(DIFFERS)
