"""Sentences and small pieces of HTML; everything that comes from visitors or models is escaped."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

from csd.models import catalog
from csd.models.memory import memory_needed, size
from csd.models.spec import ModelSpec
from csd.sentences import counted
from csd.web.loads import FamilyChoice, FamilyStatus
from csd.web.races import FinishedRace
from csd.web.updates import StatusLine

ABOUT = {
    "embedded": "Tiny models trained for this demo. They handle short stories, word problems, edits, lists and simple "
    "code; don't expect more.",
    "smollm2": "SmolLM2 135M: ask it anything. A real language model, but a very small one: fluent, and often wrong.",
}
COPIES = (
    "Faster guessers with 8-bit or 4-bit weights. The big model stays as it is, so the text stays exact. If it was "
    "read from a file with 4-bit weights, its copies are nearly equal to it, and their acceptance says little about "
    "other models."
)


def status_html(line: StatusLine) -> str:
    spoken = " data-spoken" if line.spoken else ""
    field = f' data-field="{escape(line.field.replace("_", "-"))}"' if line.field else ""
    return f'<p data-state="{line.state}"{spoken}{field}>{escape(line.text)}</p>{line.table}'


def progress_html(progress: tuple[int, int] | None) -> str:
    """A bar for so many of so many races; nothing for None."""
    if progress is None:
        return ""
    done, total = progress
    return f'<progress value="{done}" max="{total}" aria-label="{done} of {total} races done"></progress>'


def family_html(status: FamilyStatus) -> str:
    """One line, for screen readers alone where there is nothing to wait for; what does not fit is told by
    `about_html`, and by a tooltip."""
    said = escape(status.sentence)
    spoken = " data-spoken" if status.state == "ready" and status.is_settled else ""
    return f'<p data-state="{status.state}"{spoken} title="{said}"><i></i>{said}</p>'


def about_html(text: str, context: int = 0) -> str:
    """`context` are the tokens that the family reads at most, for assets/page/numbers.js."""
    most = f' data-context="{context}"' if context else ""
    return f"<p{most}>{escape(text)}</p>" if text else ""


def about_family(choice: FamilyChoice, status: FamilyStatus) -> str:
    """What the models are, what was noted while they were loaded, and where they are; or why they did not load."""
    if status.state == "failed":
        return status.sentence
    notes = status.family.notes if status.family else ()
    placed = [f"{status.sentence}."] if status.state == "ready" else []
    return " ".join((ABOUT.get(choice.spec.name, choice.spec.about), *notes, *placed))


def about_preferred(preferred: FamilyChoice, status: FamilyStatus) -> str:
    """How far the family has come that the page prefers to the one it started with."""
    name = catalog.title(preferred.spec.name)
    if status.state == "failed":
        return status.sentence
    if status.state == "ready":
        return f"{name} is ready: it answers your own prompts."
    return f"{name} is loading: it answers your own prompts as soon as it is ready."


def describe_end(race: FinishedRace) -> str:
    """Such as "Done: 40 tokens each." or, where lanes differ, "Stopped: speculative 3 tokens, cascade 8
    tokens." with the race's notes."""
    counts = ", ".join(f"{trace.header.method} {counted(len(trace.tokens), 'token')}" for trace in race.traces)
    if len({len(trace.tokens) for trace in race.traces}) == 1 and len(race.traces) > 1:
        counts = f"{counted(len(race.traces[0].tokens), 'token')} each"
    return " ".join((f"{'Stopped' if race.stopped else 'Done'}: {counts}.", *race.notes))


def families_table(names: Collection[str]) -> str:
    """The ready families of these names with their sizes and the memory that they need, as Markdown."""
    rows = ["| family | target | drafts | memory, fp32 | memory, bf16 | |", "| --- | --- | --- | --- | --- | --- |"]
    for spec in (spec for spec in catalog.READY if spec.name in names):
        target, *drafts = map(_model, spec.models)
        needs = [memory_needed(spec, dtype) for dtype in ("float32", "bfloat16")]
        fp32, bf16 = (size(need) if need else "?" for need in needs)
        rows.append(f"| {catalog.title(spec.name)} | {target} | {'; '.join(drafts)} | {fp32} | {bf16} | {spec.about} |")
    return "\n".join(rows)


def _model(model: ModelSpec) -> str:
    return f"{model.bits}-bit copy" if model.bits else f"{model.id.split('/')[-1]}, {_parameters(model.parameters)}"


def _parameters(count: int) -> str:
    return f"{count / 1e9:.1f} B" if count >= 1e9 else f"{count / 1e6:.1f} M"
