"""Warnings that strangers can bring about."""

from __future__ import annotations

import logging

import pytest

from csd.decoding.k_matrix import check_K
from csd.web import log_faults, rare_warnings
from csd.web.rare_warnings import MOST, OncePerMinute, thin_out_warnings


def test_a_warning_is_logged_once_a_minute_with_the_number_of_those_left_out(caplog):
    now = [1000.0]
    log = logging.Logger("server")
    log.addFilter(OncePerMinute(clock=lambda: now[0]))
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


def make_record(text: str, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("server", level, "", 0, text, None, None)


def test_few_kinds_of_warnings_are_remembered_and_none_is_forgotten_without_its_count():
    rare = OncePerMinute()
    told = []
    for number in range(10 * MOST):
        record = make_record(f"kind {number}")
        assert rare.filter(record)
        assert not rare.filter(make_record(f"kind {number}"))
        told.append(record.getMessage())
    assert len(rare._kinds) <= MOST
    assert told[MOST] == f"kind {MOST} (1 more since the last line “kind 0”.)"


def test_what_was_left_out_is_told_at_the_end(caplog):
    log = logging.Logger("server")
    log.addFilter(rare := OncePerMinute())
    log.addHandler(caplog.handler)
    for text in ["one %s", "one %s", "two %s", "one %s"]:
        log.warning(text, "100%")
    for _ in range(2):
        rare.tell_rest(log)
    assert [record.getMessage() for record in caplog.records] == [
        "one 100%",
        "two 100%",
        "2 more since the last line “one 100%”.",
    ]


@pytest.fixture
def thinned(monkeypatch):
    """The log of faults as the page leaves it."""
    monkeypatch.setattr(rare_warnings.atexit, "register", lambda *_: None)
    logs = [logging.getLogger(name) for name in (*rare_warnings.SERVER, *rare_warnings.AGENTS, log_faults.__name__)]
    before = [[*log.filters] for log in logs]
    thin_out_warnings()
    yield
    for log, filters in zip(logs, before, strict=True):
        log.filters[:] = filters


def test_a_flood_of_requests_that_fail_is_a_line_for_each_fault(thinned, caplog):
    """Whatever it says, and with one traceback where the project is at fault."""

    def fail(text: str, kind: type[Exception]) -> None:
        try:
            raise kind(text)
        except kind as error:
            log_faults.log_fault(error)

    def fail_ours(K: str) -> None:
        try:
            check_K(K, 1)
        except Exception as error:
            log_faults.log_fault(error)

    for number in range(1000):
        fail(f"junk {number}", ValueError)
        fail(f"junk {number}", TypeError)
        fail_ours(f"K {number}")
    assert [record.getMessage().split(": ")[1].split(" at ")[0] for record in caplog.records] == [
        "ValueError",
        "TypeError",
        "Refusal",
    ]


def test_what_agents_write_is_not_in_the_log_and_makes_no_line_a_kind_of_its_own(thinned, caplog):
    """As the server of MCP logs it: in its own log, and in the root's."""

    def log_as_mcp(name: str, message: str, *args: object) -> None:
        path = f"/packages/{'mcp'}/shared/session.py"
        logging.getLogger(name).handle(logging.LogRecord(name, logging.WARNING, path, 1, message, args, None))

    for number in range(1000):
        log_as_mcp("", f"Failed to validate request: secret {number}. Message was: {'x' * 1000}")
        log_as_mcp(rare_warnings.AGENTS[0], f"Received exception from stream: secret {number}")
        log_as_mcp(rare_warnings.AGENTS[0], "Tool '%s' not listed", f"secret {number}")
    assert [record.getMessage() for record in caplog.records] == [
        "Failed to validate request",
        "Received exception from stream",
        "Tool '%s' not listed",
    ]
    logging.getLogger().warning("of others: %s", "as it is")
    assert caplog.records[-1].getMessage() == "of others: as it is"
