"""The figures of a run, from samples whose figures are known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from csd.traffic.page import draw_figures, to_page
from csd.traffic.samples import LoadRun, Sample, ServerSample
from csd.traffic.summary import estimate_error, make_tables, memory_slope, percentile, summarize

RACES = tuple(Sample("page race", i, 2.0 + i, "ok", 1.0, 2.5, 0.5 + i) for i in range(4))
FAULT = Sample("API race", 1.0, 9.0, "lost", sentence="the stream ended <b>without</b> an answer")
VIEWS = (Sample("GET /", 0.0, 0.02), Sample("GET /", 1.0, 0.04))
SERVER = tuple(ServerSample(10.0 * i, (100 + i) * 2**20, 5, 12, 0.5) for i in range(19))
RUN = LoadRun("http://page", 3, 10.0, "a machine", (*RACES, FAULT, *VIEWS), SERVER)


def test_percentiles_are_measured_values():
    assert [percentile(range(1, 101), percent) for percent in (50, 95, 99)] == [51, 96, 100]
    assert percentile([3.0], 99) == 3.0 and percentile([], 50) is None


def test_the_summary():
    found = summarize(RUN)
    assert found["races_per_second"] == pytest.approx(0.4)
    assert found["faults"] == {"lost": 1, "mixed": 0, "differs": 0, "hung": 0}
    assert list(found["kinds"]) == ["API race", "page race", "GET /"]
    assert (found["kinds"]["page race"]["p50"], found["kinds"]["page race"]["queued_p95"]) == (4.0, 1.0)
    assert estimate_error(RACES) == pytest.approx((0.25 + 0.375) / 2)
    assert (found["kinds"]["page race"]["off_p50"], found["kinds"]["GET /"]["off_p50"]) == (2.5, None)
    assert RUN.faults == (FAULT,)


def test_a_page_that_refuses_every_race_has_not_raced():
    assert RUN.has_raced
    refused = tuple(replace(one, outcome="refused") for one in RACES)
    assert not replace(RUN, samples=(*refused, *VIEWS)).has_raced


def test_a_race_that_ended_after_the_run_is_not_in_its_throughput():
    late = LoadRun("", 1, 4.0, "", RACES)
    assert summarize(late)["races_per_second"] == pytest.approx(2 / 4)


def test_memory_grows_by_what_it_grew_by_after_the_first_minute():
    assert memory_slope(RUN) == pytest.approx(6.0)
    jump = (ServerSample(0.0, 0, 1, 1, 0), *SERVER[6:])
    assert memory_slope(LoadRun("", 1, 180, "", (), jump)) == pytest.approx(6.0)
    assert memory_slope(LoadRun("", 1, 90, "", (), SERVER[:10])) is None


def test_the_tables_say_which_process_was_watched_or_why_none_was():
    (actions,) = make_tables(replace(RUN, server=(), watched="What listens is not the page."))
    assert actions.note.endswith("What listens is not the page.")
    _, server = make_tables(replace(RUN, watched="Of process 1."))
    assert server.note.startswith("Of process 1. Growth")


def test_the_page_and_the_tables_show_it():
    actions, server = make_tables(RUN)
    assert all(len(row) == len(actions.heads) for row in actions.rows)
    assert "+6.00 MB a minute" in server.note
    page = to_page(RUN)
    assert "&lt;b&gt;without" in page and "<b>without" not in page
    assert len(draw_figures(RUN)) == 7
    assert len(draw_figures(LoadRun("", 1, 10.0, "", RACES))) == 3
