"""The paper's comparison: its methods with its settings, and the wording of its prompts."""

from __future__ import annotations

from csd.decoding.errors import Refusal
from csd.decoding.k_matrix import Matrix, from_budgets, to_budgets
from csd.decoding.methods import Autoregressive, Cascade, Method, Speculative
from csd.models.spec import FamilySpec
from csd.request.defaults import published_settings
from csd.request.prompts import Wording

SPECULATIVE_KS = (5, 10)  # what the paper used for speculative decoding is not known
PAPER = Wording(
    "Reason the math question below step by step. Question: {}.\n Answer: ",
    "Question: {}\n(A) {} (B) {} (C) {} (D) {}\n Answer: \n Let's think step by step. ",
    200,
)


def paper_methods(spec: FamilySpec) -> tuple[Method, ...]:
    """Autoregressive, speculative decoding with each draft, the cascade with each draft alone and with all of them.

    K and lenience are the published ones; a cascade with one draft has what remains of the first K without the others.
    Raises Refusal where nothing was published for so many drafts.
    """
    drafts = spec.draft_names
    settings = published_settings(len(drafts), spec.published)
    if not settings:
        raise Refusal(f"The paper's comparison needs a family with one or two drafts; {spec.name} has {len(drafts)}.")
    first = settings[0]
    single = [Cascade((name,), K_of_one(first.K, i), first.lenience) for i, name in enumerate(drafts)]
    return (
        Autoregressive(),
        *(Speculative(name, k) for name in drafts for k in SPECULATIVE_KS),
        *(single if len(drafts) > 1 else ()),
        *(Cascade(drafts, one.K, one.lenience) for one in settings),
    )


def K_of_one(K: Matrix, draft: int) -> Matrix:
    """What remains of K if of all drafts only this one is run: its own row and column, the target's and Max-Gram's."""
    budgets, columns = to_budgets(K), (draft, len(K) - 1)
    return from_budgets(tuple(tuple(budgets[row][column] for column in columns) for row in (0, draft + 1)))
