"""Sentences and small pieces of HTML; everything that comes from visitors or models is escaped."""

from __future__ import annotations

from html import escape

from csd.models import catalog
from csd.web.families import FamilyChoice, FamilyStatus
from csd.web.races import FinishedRace
from csd.web.updates import StatusLine

EMBEDDED = (
    "Tiny models trained for this demo. They handle short stories, word problems, edits, lists and simple code; don't "
    "expect more."
)


def status_html(line: StatusLine) -> str:
    return f'<p data-state="{line.state}">{escape(line.text)}</p>'


def family_html(status: FamilyStatus) -> str:
    return f'<p data-state="{status.state}"><i></i>family: {escape(status.sentence)}</p>'


def about_html(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def about_family(choice: FamilyChoice, status: FamilyStatus) -> str:
    """What the models are, and what was noted while they were loaded."""
    notes = status.family.notes if status.family else ()
    about = EMBEDDED if choice.spec.name == "embedded" else choice.spec.about
    return " ".join((about, *notes))


def describe_end(race: FinishedRace) -> str:
    """Such as "Done: autoregressive 40 tokens, speculative 40 tokens." with the race's notes."""
    counts = ", ".join(f"{trace.header.method} {len(trace.tokens)} tokens" for trace in race.traces)
    return " ".join((f"{'Stopped' if race.stopped else 'Done'}: {counts}.", *race.notes))


def families_table() -> str:
    """The ready families with their sizes and the memory that they need, as Markdown."""
    rows = ["| family | target | drafts | memory, fp32 | memory, bf16 | |", "| --- | --- | --- | --- | --- | --- |"]
    for spec in catalog.READY:
        target, *drafts = [f"{model.id.split('/')[-1]}, {_parameters(model.parameters)}" for model in spec.models]
        needs = [catalog.memory_needed(spec, dtype) for dtype in ("float32", "bfloat16")]
        fp32, bf16 = (catalog.size(need) if need else "?" for need in needs)
        rows.append(f"| {spec.name} | {target} | {'; '.join(drafts)} | {fp32} | {bf16} | {spec.about} |")
    return "\n".join(rows)


def _parameters(count: int) -> str:
    return f"{count / 1e9:.1f} B" if count >= 1e9 else f"{count / 1e6:.1f} M"
