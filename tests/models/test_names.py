"""What is said of the names of models before anything is loaded."""

from __future__ import annotations

import huggingface_hub.constants
import pytest

from csd.models.names import drafts_fault, target_fault
from csd.paths import ASSETS

TARGET = str(ASSETS / "family" / "target")


@pytest.fixture(autouse=True)
def online(monkeypatch, tmp_path):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))


def test_what_can_be_a_model_is_not_blamed():
    for name in ("", "  ", TARGET, "assets/family/target", "owner/name", "owner/name@v1.0", " Qwen/Qwen3-0.6B "):
        assert target_fault(name) == ""
    assert drafts_fault(f"owner/name, {TARGET}\nself-8bit") == drafts_fault(" , ") == ""


@pytest.mark.parametrize("name", ["asdf", "no id", "a/b/c", "@", "\u2603/snow"])
def test_a_text_that_is_no_id_is_told_what_one_looks_like(name):
    fault = target_fault(name)
    assert "is neither a Hub ID nor a path on this computer. A Hub ID looks like owner/name" in fault
    assert drafts_fault(f"owner/name, {name}") == fault


def test_a_path_must_lead_to_a_model(tmp_path):
    assert target_fault("/no/such/folder").startswith("There is no folder /no/such/folder.")
    assert target_fault("no-such.gguf").startswith("There is no file no-such.gguf.")
    assert "config.json is missing" in target_fault(str(tmp_path))
    assert target_fault("LICENSE") == "LICENSE is not a GGUF file. Give one, or the folder or Hub ID of a model."


def test_a_model_of_the_hub_is_out_of_reach_where_loading_is_switched_off(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    fault = target_fault("owner/name")
    assert fault.startswith("owner/name is not on this computer, and loading from the Hub is switched off here")
    assert target_fault(TARGET) == ""


def test_more_drafts_than_a_family_has_are_refused():
    assert drafts_fault(",".join(["owner/name"] * 40)).startswith("40 drafts are named.")
