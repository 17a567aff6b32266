"""Records a saved race again with the same settings, several times, and keeps the take whose time is the median.

.venv/bin/python tests/record_again.py assets/tour-parts.json.gz   on a machine that does nothing else
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
    parser.add_argument("file", type=Path)
    parser.add_argument("--takes", type=int, default=20)
    asked = parser.parse_args()
    old = Recording.from_bytes(asked.file.read_bytes())
    request = Request.from_traces(old.traces)
    family = load_family(find(old.family))
    takes = []
    for number in range(1, asked.takes + 1):
        takes.append(record_race(family, request))
        print(f"take {number}: {tell(takes[-1])}")
    typical = sorted(takes, key=seconds)[len(takes) // 2]
    print(f"kept: {tell(typical)}")
    machine = describe_machine(family.device, family.dtype, family.placed)
    asked.file.write_bytes(replace(old, traces=typical, machine=machine, date=today()).to_gzip())


def seconds(traces: Sequence[Trace]) -> float:
    return sum(trace.decode_seconds for trace in traces)


def tell(traces: Sequence[Trace]) -> str:
    return ", ".join(f"{trace.header.method} {1000 * trace.decode_seconds:.1f} ms" for trace in traces)


if __name__ == "__main__":
    main()
