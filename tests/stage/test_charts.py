"""The charts below the lanes."""

from __future__ import annotations

from handmade import RACE, alone, nested


def test_labels_of_the_plot_stay_close_to_the_ends_of_their_lines(bare):
    """From the first step on every lane has its symbol; a label is missing only where a lane waits."""
    one = bare(calm=True).show(*RACE)
    far = """() => [...document.querySelectorAll('.cs-plot .cs-curve')].map((curve, i) => {
        const label = document.querySelectorAll('.cs-plot .cs-end')[i];
        if (getComputedStyle(curve).display === 'none') return 'unseen';
        if (!label.textContent) return 'unnamed';
        const [dot, box] = [curve.querySelector('g'), label].map((part) => part.getBoundingClientRect());
        const [x, y] = [dot.x + dot.width / 2, dot.y + dot.height / 2];
        return Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
    })"""
    one.press("Home")
    for step in range(1, 5):
        one.press("ArrowRight")
        gaps = one.page.evaluate(far)
        assert "unseen" not in gaps, (step, gaps)
        assert all(gap == "unnamed" or gap <= 48 for gap in gaps), (step, gaps)
    one.press("End")
    gaps = one.page.evaluate(far)
    assert "unnamed" not in gaps, "at the end every lane has its label"


def test_one_chart_at_a_time_is_shown_and_kept(bare):
    one = bare().show(alone(), nested())
    charts = {"speed": ".cs-plot svg", "computed": ".cs-strip path", "time": ".cs-budget table"}
    for chosen in (None, "computed", "time", "speed"):
        if chosen:
            one.page.click(f"[data-chart={chosen}]")
        seen = [name for name, part in charts.items() if one.page.locator(part).first.is_visible()]
        assert seen == [chosen or "speed"]
    assert one.page.eval_on_selector(".cs-plot path.cs-line", "line => line.getTotalLength()") > 100
    one.page.click("[data-chart=computed]")
    one.page.set_viewport_size({"width": 390, "height": 844})  # too narrow for it
    one.page.click(".cs-after > summary")
    one.page.wait_for_selector(".cs-plot svg:visible")
    assert not one.page.is_visible("[data-chart=computed]")
    assert not one.errors
