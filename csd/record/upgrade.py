"""Traces of earlier versions, brought to today's form."""

from __future__ import annotations

from typing import Any

VERSION = 2

NAMES = {"vertical": "vertical cascade", "horizontal": "horizontal cascade", "adaptive": "adaptive cascade"}


def upgrade(data: Any) -> dict[str, Any]:
    """The fields of a trace without its version. Raises ValueError where the data is not a trace of a known version."""
    version = data.get("version") if isinstance(data, dict) else type(data).__name__
    if version not in (1, VERSION):
        raise ValueError(f"This is not a trace of version {VERSION} or 1 (found: {version!r}).")
    fields = {name: value for name, value in data.items() if name != "version"}
    if version == 1:
        try:
            fields["header"] = _header_of_version_1(fields["header"])
        except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
            raise ValueError(f"This trace is damaged: {error!r}.") from error
    return fields


def _header_of_version_1(header: dict[str, Any]) -> dict[str, Any]:
    """Version 1 kept every method's settings in fields that all methods shared, and the label inside the title."""
    old = dict(header)
    method, title = old.pop("method"), old.pop("title")
    K, k, draft, lenience = (old.pop(name) for name in ("K", "k", "draft", "lenience"))
    drafts = _drafts(old["levels"])
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
    return {"method": NAMES.get(method, method), "label": title.partition(", ")[2], "settings": settings, **old}


def _drafts(levels: list[dict[str, Any]]) -> list[str]:
    """The family's drafts, strongest first."""
    top = max(level["level"] for level in levels)
    between = [level for level in levels if 0 < level["level"] < top]
    return [level["name"] for level in sorted(between, key=lambda level: -level["level"])]
