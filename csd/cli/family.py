"""The family that the options name, loaded with progress on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from csd.cli.exits import refuse, say
from csd.cli.options import DeviceOptions, FamilyOptions
from csd.models.catalog import find
from csd.models.spec import COPIES, FamilyError, FamilySpec, custom

if TYPE_CHECKING:
    from csd.models.family import Family


def find_spec(options: FamilyOptions) -> FamilySpec:
    """The family of these options. Raises FamilyError."""
    if options.drafts and not options.target:
        refuse("--draft needs --target. Name the target too, or choose a --family.")
    copies = options.copies or []
    for name in copies:
        if name not in COPIES:
            raise FamilyError(f"There is no copy called {name!r}. Choose one of: {', '.join(COPIES)}.")
    spec = custom(options.target, options.drafts or []) if options.target else find(options.family)
    return spec.with_copies(*spec.copies, *copies)


def load(spec: FamilySpec, options: DeviceOptions) -> Family:
    """Load a family and print its progress and its notes. Raises FamilyError."""
    from csd.models.loading import load_family

    return print_notes(load_family(spec, options.device, options.dtype, progress=say))


def load_compiled(spec: FamilySpec, options: DeviceOptions) -> Family:
    """The same for commands that measure: on a GPU they wait until all kernels are compiled. Raises FamilyError."""
    from csd.models.compiling import compile_kernels
    from csd.models.loading import load_family

    return print_notes(compile_kernels(load_family(spec, options.device, options.dtype, progress=say), say))


def print_notes(family: Family) -> Family:
    """The same family, after printing what should be known about it."""
    for note in family.notes:
        say(note)
    return family
