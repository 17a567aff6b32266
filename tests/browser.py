"""A served page whose races a test can hold, and a visitor's tab in a headless Chromium."""

from __future__ import annotations

import socket
import threading

STORY = "Once upon a time there was a"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def set_field(page, selector: str, text: int | str) -> None:
    """Fill in a field of the settings drawer, which is opened for it and left as it was."""
    is_open = page.is_visible("#advanced")
    if not is_open:
        page.click("#more")
    page.evaluate("(id) => CascadePage.reveal(id)", selector.partition(" ")[0].removeprefix("#"))
    page.fill(selector, str(text))
    if not is_open:
        page.click("#advanced-close")


def choose_race(page, title: str) -> None:
    """Show a race of the list again."""
    page.click("#races")
    page.click("#earlier input")
    page.get_by_role("option", name=title).click()


def await_race(page, race: str) -> None:
    """Until the race of this id is on the stage."""
    page.wait_for_selector(f'#stage .cascade-stage[data-race="{race}"]')


def await_prompt(page, text: str) -> None:
    """Until the form has this prompt."""
    page.wait_for_function("text => document.querySelector('#prompt textarea').value === text", arg=text)


def box(page, selector: str) -> dict:
    return page.locator(selector).bounding_box()


def is_in_view(page, selector: str) -> bool:
    found, size = box(page, selector), page.viewport_size
    return 0 <= found["y"] and found["y"] + found["height"] <= size["height"] and 0 <= found["x"] < size["width"]


# By how many pixels a part is wider and higher than its box.
CUT = """selector => {
  const box = document.querySelector(selector);
  return [box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight];
}"""
CUT_OFF = "Unexpected error Connection errored out"


class Gate:
    """Holds real races at a kind of record ("Prefill", "Step") until it is opened or the race is stopped."""

    def __init__(self):
        self.at = ""
        self.passing = 0  # records of this kind before the one that is held
        self.held = threading.Semaphore(0)
        self.opened = threading.Event()
        self.begun = 0  # races
        self.families: list[str] = []  # with which they were asked for
        self.stopped = 0

    def hold(self, at: str, after: int = 0) -> None:
        self.at = at
        self.passing = after
        self.held = threading.Semaphore(0)
        self.opened.clear()

    def open(self) -> None:
        self.at = ""
        self.opened.set()

    def wait(self, timeout: float = 180) -> None:
        assert self.held.acquire(timeout=timeout), f"no race came to a {self.at}"

    def race(self, family, settings, stopped=lambda: False):
        from csd.run import run_race

        self.begun += 1
        self.families.append(family.spec.name)
        try:
            for event in run_race(family, settings, stopped):
                yield event
                if self.at and type(getattr(event, "record", None)).__name__ == self.at:
                    self.passing -= 1
                    if self.passing >= 0:
                        continue
                    self.held.release()
                    while not self.opened.wait(0.02) and not stopped():
                        pass
        finally:
            self.stopped += stopped()


class House:
    """A served page over the embedded family: its address, its studio and its gate.

    `load` loads families, by default for real; those of `behind` are loaded beside the embedded one. `public`: in public
    mode.
    """

    def __init__(self, load=None, behind=(), public=False):
        from csd.models import catalog
        from csd.models.loading import load_family
        from csd.web import page as layout
        from csd.web.deployment import make_deployment
        from csd.web.gradio_queue import open_queue_of
        from csd.web.loads import FamilyChoice
        from csd.web.studio import Studio

        self.gate = Gate()
        home = FamilyChoice(catalog.find("embedded"), "cpu")
        deployment = make_deployment({}, "127.0.0.1", public, (home,))
        self.studio = Studio(home, load or load_family, self.gate.race, behind, deployment=deployment)
        self.page = open_queue_of(self.studio, layout.build(self.studio))
        self.port = free_port()
        self.page.launch(
            server_name="127.0.0.1",
            server_port=self.port,
            prevent_thread_lock=True,
            quiet=True,
            **layout.launch_settings(self.studio.deployment),
        )
        self.url = f"http://127.0.0.1:{self.port}/"
        for choice in self.studio.families.homes:
            self.studio.families.ensure_loading(choice)


SIZE = {"width": 1280, "height": 720}
RESTING = "health/live#resting"


def resting_page(chromium):
    """The page that a closed tab has left to the next one, whose process need not compile Gradio again; None without one."""
    pages = (page for context in chromium.contexts for page in context.pages)
    return next((page for page in pages if page.url.endswith(RESTING)), None)


def new_page(chromium):
    page = chromium.new_context(viewport=SIZE, reduced_motion="reduce").new_page()
    page.set_default_timeout(180_000)
    return page


class Tab:
    """One visitor's page, opened at `address`, a query or a fragment. It asks for reduced motion until `allow_motion`, so
    that tests neither draw replays nor wait for them."""

    def __init__(self, chromium, house: House, address: str = ""):
        self.errors: list[str] = []
        self.is_spent = False  # whether something was changed that stays with the page
        self._chromium, self._house, self._is_closed = chromium, house, False
        self.page = resting_page(chromium) or new_page(chromium)
        self.context = self.page.context
        self.page.on("console", self._hear_line)
        self.page.on("pageerror", self._hear_error)
        self.page.goto(house.url + address)
        self.page.wait_for_selector('#family-status [data-state="ready"]')

    def _hear_line(self, line) -> None:
        if line.type == "error":
            self._hear(line.text)

    def _hear_error(self, error) -> None:
        self._hear(f"{error.name}: {error}")

    def _hear(self, error: str) -> None:
        """A page that is left while Gradio's stream is open aborts it, and says so. That is no error."""
        if not error.startswith("AbortError"):
            self.errors.append(error)

    def allow_motion(self) -> None:
        """From now on races play as they do for most visitors."""
        self.page.emulate_media(reduced_motion="no-preference")

    def fill(self, prompt: str = STORY, tokens: int | str = 8) -> None:
        self.page.fill("#prompt textarea", prompt)
        set_field(self.page, "#max-new input", tokens)

    def race(self, prompt: str = STORY, tokens: int | str = 8) -> None:
        self.fill(prompt, tokens)
        self.page.click("#race")

    def stop(self) -> None:
        self.page.click("#stop")

    def reload(self) -> None:
        """Load the page again; what it was still receiving is cut off, which is no error."""
        self.page.reload()
        self.errors[:] = [error for error in self.errors if not error.startswith(CUT_OFF)]

    def status(self, state: str) -> str:
        """The status line once it is in this state and no older one."""
        return self.page.wait_for_selector(f'#status p[data-state="{state}"]').inner_text()

    def tokens(self) -> int:
        return self.page.locator("#stage .cs-token").count()

    def advanced(self) -> None:
        """Opens the settings with all their sections, where they are not open yet. A refusal may open them at the same
        moment."""
        opened = "document.getElementById('advanced').hasAttribute('data-open')"
        self.page.wait_for_selector("#more[aria-expanded]")  # the page listens from then on
        self.page.evaluate(f"{opened} || document.getElementById('more').click()")
        self.page.wait_for_selector("#advanced")
        self.unfold()

    def unfold(self) -> None:
        """Opens all sections of the settings."""
        self.page.evaluate("['temperature', 'k', 'K', 'target'].forEach((id) => CascadePage.reveal(id))")

    def close(self) -> None:
        """Leaves the page to the next tab as if it were new, unless there is one already."""
        if self._is_closed:
            return
        self._is_closed = True
        self.page.remove_listener("console", self._hear_line)
        self.page.remove_listener("pageerror", self._hear_error)
        is_reusable = not self.is_spent and len(self.context.pages) == 1 and resting_page(self._chromium) is None
        if not (is_reusable and self._rest()):
            self.context.close()

    def _rest(self) -> bool:
        """Returns whether the page could be made as new: not beside a house that is closed."""
        from playwright.sync_api import Error

        page = self.page
        page.unroute_all()
        page.set_viewport_size(SIZE)
        page.emulate_media(reduced_motion="reduce")
        try:
            page.goto(self._house.url + RESTING)
        except Error:
            return False
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.context.clear_cookies()
        self.context.clear_permissions()
        return True
