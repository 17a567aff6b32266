"""Records the comparison that the Compare tab begins with: the page's own lanes on the first example of every kind.

PYTHONPATH=. .venv/bin/python tests/record_comparison.py    on a machine that does nothing else
"""

from __future__ import annotations

import argparse

from csd.cli.recorder import record_race
from csd.models.catalog import find
from csd.models.device import describe_machine
from csd.models.loading import load_family
from csd.record.race import Race
from csd.record.recording import today
from csd.web import compare
from csd.web.compare_events import ComparisonForm, plan_races
from csd.web.compare_recording import FILE, RecordedComparison
from csd.web.context import make_context
from csd.web.loads import FamilyChoice
from csd.web.named_plans import PlanChoice
from csd.web.studio import Studio

NO_PLAN = PlanChoice("", "")  # which a comparison of kinds does not ask for


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=compare.REPEATS)
    asked = parser.parse_args()
    home = FamilyChoice(find("embedded"), "cpu")
    start = make_context(Studio(home, load_family)).start
    _, plan = plan_races(ComparisonForm(compare.BY_KIND, asked.repeats, (NO_PLAN, NO_PLAN)), start)
    family = load_family(home.spec)
    races = []
    for number, planned in enumerate(plan, 1):
        races.append((planned.label, Race(record_race(family, planned.request))))
        print(f"{number} of {len(plan)}: {planned.label}")
    machine = describe_machine(family.device, family.dtype, family.placed)
    rows = tuple(map(tuple, compare.table_rows(races)))
    results = tuple(compare.lane_results(races))
    FILE.write_text(RecordedComparison(home.spec.name, machine, today(), rows, results).to_json(), "utf-8")
    for row in rows:
        print(*row[:9], sep=" | ")


if __name__ == "__main__":
    main()
