"""Figures of the page on this machine: bash tests/measure.sh [--only startup|shifts|frames|files]"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from browser import House, free_port

from csd.paths import ROOT
from csd.record.recording import Recording, bundled_recordings
from csd.record.trace import Prefill, Proposal, Review, Step, Trace
from csd.stage import bundle, export
from csd.stage import log as stage
from csd.typeface import scale_css
from look import shifts
from look.chromium import launched

HERE = Path(__file__).parent
REPEATS = 3


def startup(browser: Any) -> None:
    """Seconds until gradio is imported, and from the start of app.py to the first paint in an open browser."""
    imports = [
        _seconds(lambda: subprocess.run([sys.executable, "-c", "import gradio"], check=True)) for _ in range(REPEATS)
    ]
    paints = [_first_paint(browser) for _ in range(REPEATS)]
    print(f"import gradio: {median(imports):.2f} s")
    print(f"first answer after the start of app.py: {median(answer for answer, _ in paints):.2f} s")
    print(
        f"first paint: {median(paint for _, paint in paints):.2f} s, which is {median(p for _, p in paints) - median(imports):.2f} s after gradio's own import"
    )


def _first_paint(browser: Any) -> tuple[float, float]:
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    page = browser.new_page()
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "app.py", "--family", "embedded", "--port", str(port)],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while True:
            try:
                urllib.request.urlopen(url, timeout=5).read()
                break
            except OSError:
                time.sleep(0.02)
        answered = time.perf_counter() - began
        page.goto(url, wait_until="commit")
        page.wait_for_selector("#race", state="visible")
        painted = time.perf_counter() - began
    finally:
        process.kill()
        process.wait()
        page.close()
    return answered, painted


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def layout_shifts(browser: Any) -> None:
    """From load to the end of a race, at three sizes."""
    house = House()
    for size in shifts.SIZES:
        seen = shifts.measure(browser, house, size)
        print(f"layout shifts at {size[0]}x{size[1]}: CLS {seen.cls:.3f}, all of them {seen.total:.3f}")
    house.page.close()


def frames(browser: Any) -> None:
    """A replay of 512 tokens in four lanes in slow motion: the CPU time of script, style and layout in each frame.

    CPU time does not depend on what else runs. How often frames come does: without a GPU Chromium draws them in software.
    """
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_content(
        f'<body style="margin:0"><style>{scale_css()}{bundle.CSS}</style><div class="cascade-stage" data-state="idle"></div>'
        f'<script>{bundle.stage_script()}\nwindow.stage = CascadeStage.mount(document.querySelector(".cascade-stage"));</script>'
    )
    script = (HERE / "frames.js").read_text(encoding="utf-8")
    for view in ("one", "columns"):
        page.evaluate("log => stage.update({race: 'r', log})", stage.log_of(_long_race(), "r"))
        page.click(".cs-view-open")
        page.click(f'.cs-choice [data-value="{view}"]')
        page.keyboard.press("Escape")
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        before = _times(session)
        seen = page.evaluate(script)
        spent = {name: 1000 * (value - before[name]) / seen["frames"] for name, value in _times(session).items()}
        print(
            f"512 tokens x 4 lanes, {view}: CPU per frame: script {spent['ScriptDuration']:.1f} ms, style "
            f"{spent['RecalcStyleDuration']:.1f} ms, layout {spent['LayoutDuration']:.1f} ms; main thread busy for "
            f"{seen['work']['median']:.1f} ms (median), {seen['work']['p95']:.1f} ms (95 %); "
            f"{seen['fps']:.0f} frames a second"
        )
    page.close()


def _times(session: Any) -> dict[str, float]:
    names = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration")
    metrics = session.send("Performance.getMetrics")["metrics"]
    return {one["name"]: one["value"] for one in metrics if one["name"] in names}


def _long_race() -> tuple[Trace, ...]:
    from handmade import header

    pieces = {i: f" word{i % 7}" for i in range(600)}
    names = ("autoregressive", "speculative", "prompt-lookup", "cascade")
    return tuple(
        Trace(
            replace(header(name), rule="greedy", temperature=0.0, max_new=512), (Prefill("target", 2, 0.0, 0.1),),
            tuple(_long_step(at, guesses, pace) for at in range(0, 512, guesses + 1)), "budget", pieces,
        )
        for name, guesses, pace in zip(names, (0, 3, 1, 7), (0.01, 0.008, 0.007, 0.006))
    )  # fmt: skip


def _long_step(at: int, guesses: int, pace: float) -> Step:
    """Guesses from token `at` on, one after the other, all of which the target keeps; `pace` seconds for each token."""
    start, copied = 0.1 + pace * at, "MaxGram"
    drafts = tuple(
        Proposal(copied, 2 + at + j, (10 + at + j,), (copied,), start + pace * j, pace) for j in range(guesses)
    )
    block, own = tuple(range(10 + at, 10 + at + guesses)), 10 + at + guesses
    review = Review("target", 2 + at, block, (copied,) * guesses, guesses, own, start + pace * guesses, pace, drafts)
    return Step((*block, own), (*review.authors, "target"), review, start, pace * (guesses + 1))


def files(browser: Any) -> None:
    """Sizes of the recorded races as exported pages."""
    sizes = {name: len(export.page(recording).encode()) for name, recording in bundled_recordings().items()}
    largest = max(sizes, key=lambda name: sizes[name])
    print(f"exported pages: {min(sizes.values()) / 1e3:.0f} to {sizes[largest] / 1e3:.0f} KB ({largest})")
    print(
        f"exported page of 512 tokens in four lanes: {len(export.page(Recording(_long_race())).encode()) / 1e3:.0f} KB"
    )


FIGURES: dict[str, Callable[[Any], None]] = {
    "files": files, "frames": frames, "shifts": layout_shifts, "startup": startup,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests/measure.sh", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=FIGURES, help="one of the figures")
    asked = parser.parse_args()
    with launched() as browser:
        for name, figure in FIGURES.items():
            if asked.only in (None, name):
                figure(browser)


if __name__ == "__main__":
    main()
