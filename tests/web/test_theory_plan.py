"""The plan that the Theory tab has after a race of another family."""

from __future__ import annotations

import json

import pytest

from csd.record.recording import bundled_recordings

PLAN = "big model\nchecks 8 from 8-bit model, 2 from copier\n"


@pytest.mark.slow
def test_it_is_the_plan_of_the_race_also_with_another_number_of_drafts(tab, tmp_path):
    """Whether the tab had been opened before or not: what it shows first is the browser's own copy of the plan."""
    page, bundled = tab.page, bundled_recordings()
    words = "document.querySelector('#what-if-picture .staircase-words')?.innerText"
    for name, plan in (("smollm2-1-rewrite-another-name", PLAN), ("1-story-an-otter-makes-a-boat", "big model\n")):
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps(bundled[name].to_dict()), "utf-8")
        page.get_by_role("tab", name="Race").click()
        page.set_input_files("#bring ~ input[type=file], #bring input[type=file], input[type=file]", file)
        page.wait_for_function("document.querySelector('#earlier input').value.startsWith('From a file')")
        page.get_by_role("tab", name="Theory").click()
        page.wait_for_function(f"plan => {words}?.startsWith(plan)", arg=plan)
        page.wait_for_function("document.querySelector('#what-if').innerText.includes('from the race’s averages')")
        assert "for your plan" not in page.inner_text("#what-if")
    assert not tab.errors
