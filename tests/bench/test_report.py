"""The report: JSON, Markdown, and an HTML page that needs no network."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from bench_samples import AR, make_report, make_summary, one_block_run, timed_run
from plotly.offline import get_plotlyjs

from csd.bench.forward_times import ForwardTimes
from csd.bench.limits import Limits
from csd.bench.markdown import to_markdown
from csd.bench.memory import KVCache, Memory
from csd.bench.page import to_page
from csd.bench.tables import overview_tables

LIMITS = Limits(copy_rate=2e9, read_rate=1e9, flops=1e12, weight_bytes=10**6, cache_bytes=100)
TIMES = (ForwardTimes("target", ((64, 0.001), (128, 0.002)), ((1, 0.001), (8, 0.003))),)


def test_the_document_is_json_without_nan():
    found = make_report(summary=make_summary((timed_run(0, AR, 1), one_block_run()))).document()
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text)["cells"][1]["speed"]["median"] is None
    assert [(row["entry"], row["title"]) for row in found["entries"]] == [
        (AR, "autoregressive"),
        ("eager", "transformers, eager"),
    ]


def test_markdown_has_the_figures():
    text = to_markdown(make_report())
    assert "| speculative, d, k=2 | 2 | 2.83 | 2.00 | 1.41 | 1.00 |  |  |" in text
    assert "| transformers, static (best AR) | 2 | 20.0 |" in text
    assert "- One is missing." in text and "Ratios, at most 15% repeated" in text
    assert "| code: def f(): | cascade | 4 | 20.0 |" in text


def test_tables_of_the_device():
    memory = Memory((KVCache("target", 96, 1234567),), 2 * 10**9, None)
    tables = {table.title: table for table in overview_tables(make_report(limits=LIMITS, memory=memory))}
    device = dict(tables["Device"].rows)
    assert device["reading as many bytes as the target's weights"] == "1.0 GB/s"
    assert device["limit of autoregressive decoding at the mean prompt"] == "999.4 tok/s"
    assert tables["KV caches of one lane"].rows == (("target", "96", "1,234,567"),)
    assert "Forward pass by width" not in tables
    assert all(len(row) == len(table.heads) for table in tables.values() for row in table.rows)


def test_html_is_whole_and_needs_no_network():
    text = to_page(make_report(forward_times=TIMES, limits=LIMITS))
    script = get_plotlyjs()
    assert text.count(script) == 1
    own = text.replace(script, "")
    assert not re.search(r"https?:|//cdn|@import|<link|<img|src=", own)
    assert own.count("Plotly.newPlot") == 5 and own.count('class="figure"') == 5
    assert "A </script>" not in own and "A &lt;/script&gt;&lt;b&gt;fox" in own
    assert own.count("</script>") == 2


def test_the_kernels_of_models_on_a_cpu():
    lean = replace(TIMES[0], kernels=(("qkv", "x @ W; F.linear from 8"), ("head", "x @ W")))
    other = replace(TIMES[0], model="draft", kernels=(("head", "F.linear"),))
    tables = {one.title: one for one in overview_tables(make_report(forward_times=(lean, other, TIMES[0])))}
    assert tables["Kernels"].heads == ("model", "qkv", "head")
    assert tables["Kernels"].rows == (("target", "x @ W; F.linear from 8", "x @ W"), ("draft", "", "F.linear"))
    assert "Kernels" not in {one.title for one in overview_tables(make_report(forward_times=TIMES))}
