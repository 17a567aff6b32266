"""Why models other than those of the page's first race answer, and who guesses for them."""

from __future__ import annotations

from csd.models import catalog
from csd.models.spec import COPIES
from csd.roles import COPIER, roles_of_family
from csd.sentences import listed
from csd.web.context import PageContext
from csd.web.loads import FamilyChoice

ANSWERS = "{name} answers your own prompts: the {home} know little beyond the examples."


def who_runs(context: PageContext, choice: FamilyChoice, is_chosen: bool) -> tuple[str, str]:
    """The title of models other than those of the page's first race, and a sentence: why they run, and who guesses for
    them."""
    home = context.studio.home
    if choice.spec.name == home.spec.name:
        return "", ""
    drafts = choice.defaults.drafts
    called = roles_of_family(drafts)
    guessers = [
        f"its {COPIES[name]}-bit copy (cheaper to run)" if name in COPIES else f"the {called[name]}" for name in drafts
    ]
    helpers = listed([*guessers, f"the {COPIER}"])
    title = catalog.title(choice.spec.name)
    if is_chosen:
        return title, f"{title} runs; {helpers} guess{'' if guessers else 'es'} ahead."
    return title, f"{title} answers your own prompts; {helpers} guess{'' if guessers else 'es'} ahead."


def why_others(context: PageContext, choice: FamilyChoice, is_chosen: bool) -> str:
    """Why other models than those of the page's first race answer, unless the visitor chose them."""
    home = context.studio.home
    if is_chosen or choice.spec.name == home.spec.name:
        return ""
    return ANSWERS.format(name=catalog.title(choice.spec.name), home=catalog.title(home.spec.name))
