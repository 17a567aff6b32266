"""What several test files share: the embedded family, a served page, a browser, and what the markers mean."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from browser import House

LONGEST = (
    "traffic/test_load",  # it waits most of the time
    "models/test_exactness",
    "models/test_smollm2",
    "web/test_page",
    "workers/test_app",
    "models/test_session",
    "tests/test_process",
    "web/test_form_in_view",
    "web/test_axe",
    "backends/test_graph_failures",
    "backends/test_graph_compile",
    "models/test_encoder_decoders",
    "web/test_startup",
    "gpu/test_steps",
    "cli/test_",
    "decoding/test_rejection",
    "web/",
    "stage/",
    "tests/test_examples",
    "look/",
)
PAGE_FIXTURES = {"chromium", "house", "served"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests that serve the page or open Chromium `browser`, and all that are neither `browser` nor `slow` `fast`.

    Those marked `gpu` are skipped without one. The longest files come first, so that none of them runs alone at the end.
    """
    items.sort(key=lambda item: next((i for i, name in enumerate(LONGEST) if name in item.nodeid), len(LONGEST)))
    if any(item.get_closest_marker("gpu") for item in items):
        _skip_without_gpu(items)
    for item in items:
        if PAGE_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("browser")
        elif item.get_closest_marker("slow") is None:
            item.add_marker("fast")


def _skip_without_gpu(items: list[pytest.Item]) -> None:
    import torch

    if not torch.cuda.is_available():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU"))


@pytest.fixture(scope="session", autouse=True)
def few_collections():
    """Loading a family searches all objects of the process for garbage, four times; here it does not.

    Among the objects of all tests so far that is half of the time a load takes. Python's own collections go on.
    """
    from csd.models.backends import process

    nothing = SimpleNamespace(collect=lambda: 0, freeze=lambda: None, unfreeze=lambda: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "gc", nothing)
        yield


@pytest.fixture(scope="session", autouse=True)
def few_repeats():
    """Passes are timed once when a family is loaded, not five times: no test asks for exact costs."""
    from csd.models.backends import costs

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "REPEATS", 1)
        yield


@pytest.fixture(scope="session")
def embedded():
    """The embedded family on the CPU, opened once."""
    from csd.models import catalog
    from csd.models.loading import load_family

    return load_family(catalog.find("embedded"), "cpu")


@pytest.fixture
def embedded_once(embedded, monkeypatch):
    """Whoever loads the embedded family as it is gets the one that is loaded; any other is loaded for real."""
    import csd.models.loading

    load = csd.models.loading.load_family

    def load_once(spec, device="auto", dtype="auto", progress=lambda sentence: None):
        if (spec.name, device, dtype) == ("embedded", "auto", "auto"):
            return embedded
        return load(spec, device, dtype, progress)

    monkeypatch.setattr(csd.models.loading, "load_family", load_once)


@pytest.fixture(scope="session")
def served():
    house = House()
    yield house
    house.gate.open()
    house.page.close()


@pytest.fixture
def house(served):
    """The page with an open gate, before and after."""
    served.gate.open()
    yield served
    served.gate.open()


@pytest.fixture(scope="session")
def chromium():
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    from look import chromium as found

    if found.find() is None:
        pytest.skip("Chromium was not found; set CHROMIUM to its path")
    with found.launched() as browser:
        yield browser
