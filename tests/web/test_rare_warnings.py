"""Warnings that strangers can bring about."""

from __future__ import annotations

import logging

from csd.web.rare_warnings import MOST, OncePerMinute


def test_a_warning_is_logged_once_a_minute_with_the_number_of_those_left_out(caplog):
    now = [1000.0]
    log = logging.Logger("server")
    log.addFilter(OncePerMinute(lambda: now[0]))
    log.addHandler(caplog.handler)
    for second in range(121):
        now[0] = 1000.0 + second
        log.warning("Invalid HTTP request received.")
        if second % 60 == 0:
            log.error("a fault")
    log.warning("of %s", "another kind")
    said = [record.getMessage() for record in caplog.records]
    first, more = "Invalid HTTP request received.", " (59 more since the last such line.)"
    assert said == [first, "a fault", first + more, "a fault", first + more, "a fault", "of another kind"]


def test_few_kinds_of_warnings_are_remembered():
    rare = OncePerMinute()
    for number in range(10 * MOST):
        assert rare.filter(logging.LogRecord("server", logging.WARNING, "", 0, f"kind {number}", None, None))
    assert len(rare._last) <= MOST
