"""The Typer app with all commands. Importing it, and every --help, works without torch."""

from __future__ import annotations

import typer

from csd.cli.bench import bench
from csd.cli.bigram import bigram
from csd.cli.export import export
from csd.cli.families import families
from csd.cli.load import load
from csd.cli.race import race
from csd.cli.record import record
from csd.cli.tune import tune

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Cascade Speculative Drafting: race decoding methods on one prompt, with real models.",
)
app.command()(race)
app.command(short_help="Benchmark the methods, and transformers' own decoding, over many prompts.")(bench)
app.command(short_help="Simulate visitors of a served page, and check what they get.")(load)
app.command(short_help="Choose k, K and the prior of the adaptive cascade by measuring.")(tune)
app.command(short_help="Record example races that the page replays without a model.")(record)
app.command(short_help="Export a race as one self-contained HTML file.")(export)
app.command(short_help="List the ready-made families and the memory they need.")(families)
app.command(short_help="Build the bigram table that Max-Gram falls back to.")(bigram)
