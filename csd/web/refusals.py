"""Why a race would be refused, known before anybody presses Race."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from csd.decoding.errors import Refusal
from csd.run import check_request
from csd.web.context import PageContext
from csd.web.fields import PageFields


def why_refused(context: PageContext, values: Mapping[str, Any]) -> str:
    """A sentence where the race that the form asks for is larger than this page allows, or than the models read. Only
    models that are ready can count the tokens of a prompt."""
    try:
        choice, request = PageFields.from_values(values).to_request()
    except ValueError:  # what cannot be read is told when it races
        return ""
    family = context.studio.families.status(choice).family
    try:
        context.studio.deployment.check(request)
        if family is not None:
            check_request(family, request)
    except Refusal as refusal:
        return str(refusal)
    most = choice.defaults.context
    return f"This model reads at most {most:,} tokens, the prompt included." if request.max_new >= most else ""
