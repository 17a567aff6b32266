"""The table: shares of the measured limit, steps that did not end, nothing that breaks Markdown."""

from __future__ import annotations

import pytest

from gpu.figures import Figure, seconds
from gpu.status import DONE, LEFT_OUT, OUT_OF_TIME, Status
from gpu.steps import Step
from gpu.table import COPY, REHEARSAL, copy_rate, make_table, share_of_limit

NAMES = ("versions", "limits", "products", "bench", "last")
ALL = tuple(Step(name, name, 10, "") for name in NAMES)
FIGURES = {
    "versions": [Figure("device", text="Some GPU"), Figure("torch", text="2.11.0")],
    "limits": [Figure(COPY, 2000.0, "GB/s")],
    "products": [seconds("q | k", 20e-6, bytes=20_000_000), Figure("down", error="RuntimeError: no")],
    "bench": [Figure("autoregressive", 210.0, "tok/s", "1.00 tokens per pass", share=0.625)],
}
STATUSES = {
    "versions": Status(DONE),
    "limits": Status(DONE),
    "products": Status(OUT_OF_TIME, "stopped after 150 s"),
    "bench": Status(DONE),
}


def test_a_row_for_each_figure_and_each_step_that_is_not_done():
    text = make_table(ALL, FIGURES, STATUSES, on_gpu=True)
    assert "device Some GPU; torch 2.11.0" in text and REHEARSAL not in text
    assert [line for line in text.splitlines() if line.startswith("|")] == [
        "| step | what | measured | of the limit |",
        "| --- | --- | --- | --- |",
        "| limits | copy bandwidth | 2,000 GB/s |  |",
        "| products | q \\| k | 20.00 µs | 50% |",
        "| products | down | failed: RuntimeError: no |  |",
        "| products | (out of time) | stopped after 150 s |  |",
        "| bench | autoregressive | 210.0 tok/s, 1.00 tokens per pass | 62% |",
        "| last | (not run) |  |  |",
    ]


def test_a_rehearsal_says_so_and_a_step_that_lacks_something_too():
    text = make_table(ALL[:2], {}, {"limits": Status(LEFT_OUT, "needs torch:\npip install torch")}, on_gpu=False)
    assert REHEARSAL in text and "| limits | (left out) | needs torch: pip install torch |  |" in text


@pytest.mark.parametrize(
    ("figure", "share"),
    [
        (seconds("a", 1e-3, "ms", bytes=10**9), 0.5),
        (seconds("a", 1e-3, "µs", bytes=10**9), 0.5),
        (Figure("a", 1.0, "tok/s", share=0.25), 0.25),
        (seconds("a", 1e-3, "ms"), None),
        (Figure("a", 1.0, "tok/s", bytes=10**9), None),
        (Figure("a", error="no", bytes=10**9), None),
    ],
)
def test_share_of_the_limit(figure, share):
    assert share_of_limit(figure, 2e12) == pytest.approx(share)
    assert figure.share is not None or share_of_limit(figure, None) is None


def test_no_shares_without_a_copy_bandwidth():
    assert copy_rate(FIGURES) == 2e12
    assert copy_rate({}) is None and copy_rate({"limits": [Figure(COPY, error="no")]}) is None
