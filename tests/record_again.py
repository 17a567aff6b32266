"""Records saved races again with the same settings, several times, and keeps the take whose time is the median.

Races of the same prompt are given together and recorded as one, so that a lane of several has the same times in all:
PYTHONPATH=. .venv/bin/python tests/record_again.py assets/tour-parts.json.gz assets/tour-whole.json.gz
on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from csd.cli.recorder import record_race
from csd.models.catalog import find
from csd.models.device import describe_machine
from csd.models.loading import load_family
from csd.record.recording import Recording, today
from csd.record.trace import Trace
from csd.request.request import Request


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--takes", type=int, default=20)
    asked = parser.parse_args()
    races = [Recording.from_bytes(path.read_bytes()) for path in asked.files]
    lanes = {method(trace): trace for race in races for trace in race.traces}
    request = Request.from_traces(tuple(lanes.values()))
    family = load_family(find(races[0].family))
    takes = []
    for number in range(1, asked.takes + 1):
        takes.append(record_race(family, request))
        print(f"take {number}: {tell(takes[-1])}")
    typical = sorted(takes, key=seconds)[len(takes) // 2]
    print(f"kept: {tell(typical)}")
    again = {method(trace): trace for trace in typical}
    machine = describe_machine(family.device, family.dtype, family.placed)
    for path, race in zip(asked.files, races, strict=True):
        traces = tuple(again[method(trace)] for trace in race.traces)
        path.write_bytes(replace(race, traces=traces, machine=machine, date=today()).to_gzip())


def method(trace: Trace) -> str:
    """What tells a lane from the others of its prompt."""
    return f"{trace.header.method} {trace.header.settings}"


def seconds(traces: Sequence[Trace]) -> float:
    return sum(trace.decode_seconds for trace in traces)


def tell(traces: Sequence[Trace]) -> str:
    return ", ".join(f"{trace.header.method} {1000 * trace.decode_seconds:.1f} ms" for trace in traces)


if __name__ == "__main__":
    main()
