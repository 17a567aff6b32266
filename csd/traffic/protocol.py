"""How a browser speaks with a Gradio page: the page's own description, the queue and its stream of messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

API = "/gradio_api"


@dataclass(frozen=True)
class Endpoint:
    """One event of the page: its number, the names and initial values of its inputs, and the names of its outputs.

    A name is a component's `elem_id`, or a parameter's name; empty for components without one.
    """

    index: int
    names: tuple[str, ...]
    values: tuple[Any, ...]
    outputs: tuple[str, ...]

    def arguments(self, chosen: Mapping[str, Any]) -> list[Any]:
        """The inputs as a browser sends them, with some of them chosen. Raises KeyError for one that is not there."""
        if missing := chosen.keys() - set(self.names):
            raise KeyError(", ".join(sorted(missing)))
        return [chosen.get(name, value) if name else value for name, value in zip(self.names, self.values)]

    def output(self, data: list[Any], name: str) -> Any:
        """One output of an answer."""
        return data[self.outputs.index(name)]

    def body(self, session: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """What is posted to join the queue, or to run an event beside it."""
        return {"data": self.arguments(chosen), "fn_index": self.index, "session_hash": session, "event_data": None}


def read_endpoints(config: Mapping[str, Any], info: Mapping[str, Any]) -> dict[str, Endpoint]:
    """The events of a page by name, from its /config and, for the parameters of public endpoints, /info.

    Raises ValueError with a sentence if this is no description of a Gradio page.
    """
    try:
        parts = {part["id"]: part["props"] for part in config["components"]}
        found = {
            one["api_name"]: _read_endpoint(one, parts)
            for one in config["dependencies"]
            if one.get("backend_fn") and one.get("api_name")
        }
        for name, described in info["named_endpoints"].items():
            endpoint = found[name.removeprefix("/")]
            parameters = [parameter["parameter_name"] for parameter in described["parameters"]]
            if len(parameters) == len(endpoint.names):
                found[name.removeprefix("/")] = replace(endpoint, names=tuple(parameters))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("The server answers, but not as a Gradio page does. Check the address.") from error
    return found


def _read_endpoint(one: Mapping[str, Any], parts: Mapping[int, Mapping[str, Any]]) -> Endpoint:
    inputs = [parts[number] for number in one["inputs"]]
    return Endpoint(
        one["id"],
        tuple(part.get("elem_id") or "" for part in inputs),
        tuple(part.get("value") for part in inputs),
        tuple(parts[number].get("elem_id") or "" for number in one["outputs"]),
    )


def read_messages(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The messages of a stream of server-sent events."""
    for line in lines:
        if line.startswith("data:"):
            yield json.loads(line[5:])


def file_value(path: str, name: str) -> dict[str, Any]:
    """An uploaded file as a value of an input."""
    return {"path": path, "orig_name": name, "meta": {"_type": "gradio.FileData"}}
