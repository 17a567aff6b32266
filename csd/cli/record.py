"""`csd record`: the example races that the page replays before any model is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from csd.cli import recorder
from csd.cli.exits import INTERRUPTED, interruptible, refusals, refuse, say
from csd.cli.family import find_spec, load_compiled
from csd.cli.flatten import flatten_options
from csd.cli.options import DeviceOptions, FamilyName, FamilyOptions, PromptMaxNew
from csd.cli.request import make_race_request
from csd.models.device import describe_machine
from csd.record.recording import FOLDER, Recording, file_name, numbered_files, today
from csd.request.prompts import example_prompts

if TYPE_CHECKING:
    from csd.models.family import Family


@flatten_options
def record(
    *,
    family: FamilyName = "embedded",
    max_new: PromptMaxNew = None,
    device: DeviceOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FOLDER", help="Write to this folder instead of the page's own.", show_default=False
        ),
    ] = None,
) -> None:
    """Record races of the default methods on example prompts, each once and after a warm-up.

    Replaces the family's recordings in the folder. The last race of the embedded family has the paper's K, with which
    the cascade may lose.
    """
    folder = out or FOLDER
    with refusals():
        spec = find_spec(FamilyOptions(family))
        recorder.takes_of(spec.name)  # refused before anything is loaded
        models = load_compiled(spec, device)
        with interruptible() as stopped:
            recordings = dict(enumerate(_record_takes(models, device.device, max_new, stopped), 1))
    files = {file_name(number, recording): recording.to_gzip() for number, recording in recordings.items()}
    try:
        _replace_files(folder, numbered_files(models.spec.name), files)
    except OSError as error:
        refuse(f"Cannot write the recordings: {error}.")
    say(f"written: {len(files)} races, {sum(map(len, files.values())) / 1000:.0f} KB, in {folder}")


def _record_takes(family: Family, device: str, max_new: int | None, stopped: Callable[[], bool]) -> Iterator[Recording]:
    """The recording of each take. Exits after the race that is interrupted; raises Refusal."""
    examples = {(prompt.kind, prompt.title): prompt for prompt in example_prompts(family.spec)}
    for take in recorder.takes_of(family.spec.name):
        prompt = examples[take.kind, take.title]
        given = {
            **prompt.settings(),
            **take.fields(),
            "prompt": prompt.prompt,
            "max_new": max_new or take.max_new or prompt.max_new,
            "temperature": float(prompt.temperature),
            "seed": prompt.seed,
        }
        traces = recorder.record_race(
            family, make_race_request(family.spec, device, take.lanes or None, given), stopped
        )
        if stopped():
            raise typer.Exit(INTERRUPTED)
        title = take.title + (", with the paper's K" if take.K else "")
        note = recorder.FITTED if prompt.K and not take.K else ""
        say(f"{take.kind}: {title}. {note}".strip())
        yield Recording(
            traces, title, take.kind, note, describe_machine(family.device, family.dtype, family.placed), today()
        )


def _replace_files(folder: Path, pattern: str, files: Mapping[str, bytes]) -> None:
    """Write these recordings in place of those whose names have this pattern. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(pattern):
        old.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)
