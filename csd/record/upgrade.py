"""Traces of earlier versions, brought to today's form."""

from __future__ import annotations

from typing import Any

from csd.record.levels import Level, find_drafts

VERSION = 2

METHOD_NAMES = {"vertical": "vertical cascade", "horizontal": "horizontal cascade", "adaptive": "adaptive cascade"}


def upgrade(data: Any) -> dict[str, Any]:
    """The fields of a trace without its version. Raises ValueError where the data is not a trace of a known version."""
    version = data.get("version") if isinstance(data, dict) else type(data).__name__
    if isinstance(version, bool) or version not in (1, VERSION):
        raise ValueError(f"This is not a trace of version {VERSION} or 1 (found: {repr(version)[:40]}).")
    fields = {name: value for name, value in data.items() if name != "version"}
    if version == 1:
        try:
            fields["header"] = _upgrade_header(fields["header"])
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(
                f"This trace is damaged: its header of version 1 cannot be read ({error!r:.80})."
            ) from error
    return fields


def _upgrade_header(header: dict[str, Any]) -> dict[str, Any]:
    """Version 1 kept every method's settings in fields that all methods shared, and the label inside the title."""
    kept = dict(header)
    method, title = kept.pop("method"), kept.pop("title")
    K, k, draft, lenience = (kept.pop(name) for name in ("K", "k", "draft", "lenience"))
    drafts = list(find_drafts([Level(**level) for level in kept["levels"]]))
    settings: dict[str, Any] = {}
    if method == "speculative":
        settings = {"draft": draft, "k": k}
    elif method == "prompt lookup":
        settings = {"k": k}
    elif method == "adaptive":
        settings = {"drafts": drafts, "lenience": lenience}
    elif method == "cascade":
        settings = {"drafts": drafts, "K": K, "lenience": lenience}
    elif method == "vertical":
        settings = {"drafts": drafts, "ks": [row[i] for i, row in enumerate(K)], "lenience": lenience}
    elif method == "horizontal":
        settings = {"drafts": drafts, "ks": K[0]}
    return {"method": METHOD_NAMES.get(method, method), "label": title.partition(", ")[2], "settings": settings, **kept}
