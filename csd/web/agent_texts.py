"""Half of a surrogate pair in what an agent sends over MCP: the server of MCP cannot repeat it, and as the id of a call
it would take the answer along."""

from __future__ import annotations

import json

from starlette.exceptions import HTTPException

from csd.web.agent_calls import is_to_mcp, refusal
from csd.web.bodies import App, Message, Receive, Send

HALF = "This request contains half of a surrogate pair, which is not text. Remove it."


class AgentTexts:
    """ASGI middleware: status 400 with a sentence for a call that contains half of a surrogate pair, wherever it is."""

    def __init__(self, app: App):
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or not is_to_mcp(scope):
            await self._app(scope, receive, send)
            return
        try:
            messages = await _whole_body(receive)
        except HTTPException as error:  # of a limit: nobody further out answers with it
            await refusal(error.status_code, error.detail)(scope, receive, send)
            return
        if has_halves(b"".join(message.get("body", b"") for message in messages)):
            await refusal(400, HALF)(scope, receive, send)
            return

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, again, send)


def has_halves(body: bytes) -> bool:
    """Whether JSON contains half of a surrogate pair. What is no JSON is left to the server of MCP."""
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


async def _whole_body(receive: Receive) -> list[Message]:
    messages = [await receive()]
    while messages[-1].get("more_body", False):
        messages.append(await receive())
    return messages
