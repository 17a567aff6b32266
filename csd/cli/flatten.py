"""Commands that take dataclasses of options, for Typer, which reads flat parameters only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def flatten_options(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with one parameter for each field of its parameters that are dataclasses.

    Names of fields must be unique within a command; the order of the fields is that of the help.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name in groups:
            parameters += _parameters(groups[name])
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name]))

    @wraps(command)
    def flat(**values: Any) -> None:
        grouped = {
            name: kind(**{field.name: values.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**values, **grouped)

    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    flat.__signature__ = Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    return flat


def _parameters(kind: type) -> list[Parameter]:
    """One keyword parameter per field of a dataclass, with its annotation and default."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
