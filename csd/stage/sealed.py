"""What an offline page needs: a content security policy for its one script, and text that cannot become markup."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape


def policy(script: str) -> str:
    """A content security policy that allows this one script, as it stands between its tags, and no address."""
    seal = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{seal}'; style-src 'unsafe-inline'; font-src data:"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def ascii_script(text: str) -> str:
    """A script in ASCII, so that its hash does not depend on how a server labels the file."""
    return re.sub(r"[^\x00-\x7f]", lambda sign: _escaped(sign[0]), text)


def inert(data: str) -> str:
    """JSON in printable ASCII without <, > and &: the same JSON, which cannot end a script element.

    Line by line, since Python's lock is held for as long as one search takes, and a long race has megabytes.
    """
    return "\n".join(re.sub(r"[^\x20-\x7e]|[<>&]", lambda sign: _escaped(sign[0]), line) for line in data.split("\n"))


def html(text: str) -> str:
    """Text as markup that shows it: control characters and lone surrogates become U+FFFD."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return escape(re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "\ufffd", whole.replace("\r\n", "\n")))


def _escaped(sign: str) -> str:
    """A character as the escapes that JSON and JavaScript share, one per UTF-16 unit; lone surrogates are kept."""
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))
