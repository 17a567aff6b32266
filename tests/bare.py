"""A page with nothing but the stage, in a headless Chromium without network."""

from __future__ import annotations

from dataclasses import replace

from csd.record.trace import Trace
from csd.stage import bundle
from csd.stage import log as stage
from csd.typeface import scale_css


class Bare:
    """A page with nothing but the stage. `dark`, `calm`: the visitor's choices."""

    def __init__(self, chromium, dark=False, calm=False, size=(1280, 720), touch=False):
        self.errors: list[str] = []
        self.context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]},
            reduced_motion="reduce" if calm else "no-preference",
            offline=True,
            has_touch=touch,
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.page.on("console", lambda line: self.errors.append(line.text) if line.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.set_content(
            f'<body class="{"dark" if dark else ""}" style="margin:0"><style>{scale_css()}{bundle.CSS}</style>'
            f'<div class="cascade-stage" data-state="idle"></div><script>{bundle.stage_script()}\n'
            'window.stage = CascadeStage.mount(document.querySelector(".cascade-stage"));</script>'
        )

    def show(self, *traces: Trace, play=False) -> Bare:
        self.page.evaluate("log => stage.update({race: 'r', log})", stage.log_of(traces, "r", play=play))
        self.page.focus(".cascade-stage")
        return self

    def show_at(self, time: float, *traces: Trace, race="r") -> Bare:
        """The replay, paused at this time before it has drawn a frame: on a slow machine one frame may be its end."""
        show = "([race, log, time]) => { stage.update({race, log}); stage.pause(); stage.seek(time); }"
        self.page.evaluate(show, [race, stage.log_of(traces, race, play=True), time])
        self.page.focus(".cascade-stage")
        return self

    def press(self, *keys: str) -> Bare:
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)

    def state(self) -> str:
        return self.page.get_attribute(".cascade-stage", "data-state")

    def seen(self, lane: int) -> str:
        """The text of a lane as it is shown now."""
        find = f'.cs-lane[data-lane="{lane}"] .cs-step{"" if self.state() == "done" else ".cs-on"} .cs-token'
        return self.page.eval_on_selector_all(find, "all => all.map(token => token.textContent).join('')")

    def cells(self, order: int) -> list[list[str]]:
        """Text and fate of what the round of this number handed up."""
        find = f'.cs-cell[data-order="{order}"]:not(.cs-absent)'
        return self.page.eval_on_selector_all(find, "all => all.map(cell => [cell.textContent, cell.dataset.fate])")


def greedy(trace: Trace) -> Trace:
    """The same trace under the greedy rule, by which texts are compared."""
    return replace(trace, header=replace(trace.header, rule="greedy", temperature=0.0))
