"""The page learns that its event is queued only after the event's answer has come, which a slow connection may bring about."""

from __future__ import annotations

import pytest
from browser import Tab


@pytest.fixture
def one(chromium, served):
    tab = Tab(chromium, served)
    yield tab
    served.gate.open()
    tab.close()


@pytest.mark.slow
def test_an_answer_before_the_reply_is_no_lost_connection(one, served):
    page, late = one.page, []
    served.gate.hold("Step")
    one.race(tokens=8)
    served.gate.wait()
    page.route("**/queue/join*", lambda route: late.append((route, route.fetch())))
    page.fill("#prompt textarea", "An owl")  # the server sets the form up for it, while the race's stream is open
    page.wait_for_timeout(1000)
    served.gate.open()
    page.wait_for_selector('#stage .cascade-stage[data-state="done"]')
    page.wait_for_timeout(1000)  # the stream has nothing more to say, and ends
    assert late, "the event was asked for"
    for route, reply in late:
        route.fulfill(response=reply)
    page.unroute("**/queue/join*")
    page.wait_for_timeout(1000)
    assert not one.errors and page.locator(".toast-body").count() == 0
    assert page.input_value("#prompt textarea") == "An owl"
    one.race("Once upon a time there was a", 8)
    one.status("ended")
