"""The options that several commands share, and the groups in which commands receive them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from csd.decoding.methods import METHODS, AdaptiveCascade, Autoregressive, Cascade, PromptLookup, Speculative
from csd.models.spec import COPIES
from csd.sentences import listed


def spell_method(name: str) -> str:
    """A method's name as one word of a command line: "prompt lookup" is typed prompt-lookup."""
    return name.replace(" ", "-")


def join_methods(*methods: type) -> str:
    """Such as "autoregressive, speculative and cascade"."""
    return listed([spell_method(method.name) for method in methods])


FamilyName = Annotated[
    str, typer.Option("--family", metavar="NAME", help="A ready-made model family; `families` lists them.")
]
PromptFile = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        metavar="FILE",
        help="Prompts: a JSON list, GSM8K, MMLU or Spec-Bench lines, JSON strings or plain lines. Default: the "
        "family's examples.",
        show_default=False,
    ),
]
PromptLimit = Annotated[
    int,
    typer.Option("--limit", min=0, metavar="N", help="Maximum number of prompts of each kind, evenly spaced; 0: all."),
]
RaceMethods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help=f"Repeat for several lanes: {', '.join(map(spell_method, METHODS))}. "
        f"Default: {join_methods(Autoregressive, Speculative, AdaptiveCascade)}; with --K, or a K tuned for several "
        f"drafts, {spell_method(Cascade.name)} replaces {spell_method(AdaptiveCascade.name)}; "
        f"without drafts, {spell_method(PromptLookup.name)} replaces {spell_method(Speculative.name)}.",
        show_default=False,
    ),
]
BenchMethods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="As in `race`; repeat for several. Default: "
        f"{join_methods(Autoregressive, Speculative, PromptLookup, Cascade, AdaptiveCascade)}.",
        show_default=False,
    ),
]
PromptMaxNew = Annotated[
    int | None,
    typer.Option(
        "--max-new",
        min=1,
        metavar="N",
        help="Maximum number of new tokens. Default: set by each prompt.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class FamilyOptions:
    """Which models run: a ready-made family, or a target with drafts."""

    family: FamilyName = "embedded"
    target: Annotated[
        str,
        typer.Option(
            "--target", metavar="ID", help="Hub ID, folder or GGUF file of a target model, instead of --family."
        ),
    ] = ""
    drafts: Annotated[
        list[str] | None,
        typer.Option("--draft", metavar="ID", help="A draft model for --target. Repeat for several, strongest first."),
    ] = None
    copies: Annotated[
        list[str] | None,
        typer.Option(
            "--copy",
            metavar="NAME",
            help=f"A quantised copy of the target as an additional draft: {' or '.join(COPIES)}. Repeat for both.",
        ),
    ] = None


@dataclass(frozen=True)
class DeviceOptions:
    """Where the models run, and in which number format."""

    device: Annotated[
        str,
        typer.Option("--device", metavar="DEVICE", help="auto, cpu, cuda, cuda:N, or split: the target over all GPUs."),
    ] = "auto"
    dtype: Annotated[
        str,
        typer.Option(
            "--dtype",
            metavar="DTYPE",
            help="auto, float32, bfloat16, float16 or float64; auto is float32 on a CPU, bfloat16 on a GPU.",
        ),
    ] = "auto"


@dataclass(frozen=True)
class MethodOptions:
    """The settings of the methods, named like the fields of a form; None or "" where the family's default is used."""

    draft: Annotated[
        str,
        typer.Option(
            "--drafter",
            metavar="NAME",
            help="The draft used by speculative decoding. Default: the tuned one, or the strongest.",
            show_default=False,
        ),
    ] = ""
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            metavar="N",
            help="Tokens per draft of speculative decoding. Default: the tuned value, or 4.",
            show_default=False,
        ),
    ] = None
    lookup: Annotated[
        int | None,
        typer.Option(
            "--lookup",
            metavar="N",
            help="Tokens copied by prompt lookup. Default: the tuned value, or 8.",
            show_default=False,
        ),
    ] = None
    K: Annotated[
        str,
        typer.Option(
            "--K",
            metavar="MATRIX",
            help="K matrix of the cascade, cumulative, e.g. [[2,6,10],[0,4,8],[0,0,8]].",
            show_default=False,
        ),
    ] = ""
    lenience: Annotated[
        float | None,
        typer.Option(
            "--lenience",
            metavar="X",
            help="Lenience of inner reviewers (>= 1); the target is always strict. Default: the tuned value, or 1.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class SamplingOptions:
    """How a race samples, named like the fields of a form."""

    max_new: Annotated[int, typer.Option("--max-new", metavar="N", help="Maximum number of new tokens.")] = 128
    always: Annotated[bool, typer.Option("--always", help="Ignore end-of-text and generate --max-new tokens.")] = False
    temperature: Annotated[
        float, typer.Option("--temperature", metavar="X", help="Sampling temperature; 0 is greedy decoding.")
    ] = 0.0
    top_k: Annotated[
        int, typer.Option("--top-k", metavar="N", help="Sample from the N most likely tokens; 0 is off.")
    ] = 0
    top_p: Annotated[
        float,
        typer.Option(
            "--top-p", metavar="X", help="Sample from the most likely tokens of total probability X; 1 is off."
        ),
    ] = 1.0
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Random seed.")] = 0
    rule: Annotated[
        str,
        typer.Option(
            "--rule",
            metavar="NAME",
            help="Acceptance rule for sampling: coupled (all lanes generate the same text) or rejection (the paper's).",
        ),
    ] = "coupled"


def form_fields(options: MethodOptions | SamplingOptions) -> dict[str, Any]:
    """The form fields that were set on the command line, by name."""
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return {name: value for name, value in values.items() if value is not None and value != ""}
