"""The verdict of a comparison, and whether there is something to draw."""

from __future__ import annotations

from csd.web.compare_findings import LaneResult, draw, verdict


def lanes(kind: str, spec: tuple[float, ...], cascade: tuple[float, ...], **more) -> list[LaneResult]:
    return [
        LaneResult(kind, "autoregressive", "autoregressive", (1.0,) * len(spec)),
        LaneResult(kind, "speculative, draft-mid, k=4", "speculative", spec),
        LaneResult(kind, "adaptive cascade, a over b", "adaptive cascade", cascade, **more),
    ]


def test_who_wins_where():
    results = [*lanes("story", (2.0,), (3.0,)), *lanes("code", (1.5,), (2.5,)), *lanes("word problem", (2.0,), (1.8,))]
    assert verdict(results) == (
        "The adaptive cascade is fastest on 2 of 3 kinds; on word problem speculative decoding wins."
    )
    assert verdict(results[:6]) == "The adaptive cascade is fastest on all 2 kinds."


def test_one_prompt_gets_numbers():
    assert verdict(lanes("story", (2.0, 2.2), (3.0, 3.4))) == (
        "The adaptive cascade is fastest: 3.20× against 2.10× of speculative decoding."
    )


def test_autoregressive_decoding_can_win():
    assert verdict(lanes("story", (0.5,), (0.9,))).startswith("Autoregressive decoding is fastest: 1.00× against 0.90×")


def test_ranges_that_overlap_are_not_certain():
    overlapping = lanes("story", (2.0, 2.6), (2.5, 2.9))
    assert verdict(overlapping).endswith("The ranges of the first two overlap, so this is not certain.")
    both = verdict([*overlapping, *lanes("code", (1.0, 1.1), (2.0, 2.1))])
    assert both.endswith("The ranges of the first two overlap on story, so this is not certain.")


def test_two_cascades_are_told_apart_by_their_K():
    results = [
        LaneResult("A fox", "autoregressive", "autoregressive", (1.0,)),
        LaneResult("A fox", "cascade, K=[[4,6]]", "cascade", (2.0,)),
        LaneResult("A fox", "cascade, K=[[2,4]]", "cascade", (2.5,)),
    ]
    assert verdict(results) == "Cascade, K=[[2,4]] is fastest: 2.50× against 2.00× of cascade, K=[[4,6]]."
    figure = draw(results)
    assert [dot.marker.symbol for dot in figure.data] == ["triangle-up", "triangle-up-open"]


def test_another_models_text_does_not_win():
    assert verdict(lanes("story", (2.0,), (9.0,), counts=False)).startswith("Speculative decoding is fastest: 2.00×")


def test_without_speedups_there_is_nothing_to_say_or_draw():
    assert verdict(lanes("story", (), ())) == ""
    assert draw(lanes("story", (), ())) is None
    assert verdict([]) == ""


def test_the_figure_says_on_how_many_races_it_rests():
    def title(results):
        return draw(results).layout.title.text.replace("<br>", " ")

    assert title(lanes("story", (2.0,), (3.0,))) == "Speed-up in one race on each prompt"
    assert title(lanes("story", (2.0, 2.1), (3.0, 3.1))) == "Median and range of 2 races on each prompt"
    mixed = [*lanes("story", (2.0, 2.1), (3.0, 3.1)), *lanes("code", (2.0,), (3.0,))]
    assert title(mixed) == "Median and range of 1 to 2 races on each prompt"
