"""The verdict of a comparison, and whether there is something to draw."""

from __future__ import annotations

from csd.web.compare_findings import LaneResult, draw, verdict


def lanes(kind: str, spec: tuple[float, ...], cascade: tuple[float, ...], **more) -> list[LaneResult]:
    return [
        LaneResult(kind, "autoregressive", "autoregressive", (1.0,) * len(spec)),
        LaneResult(kind, "speculative, draft-mid, k=4", "speculative", spec),
        LaneResult(kind, "adaptive cascade, a over b", "adaptive cascade", cascade, **more),
    ]


CLEAR = ((2.0, 2.2), (3.0, 3.4))  # of speculative decoding and of the cascade
OVERLAPPING = ((2.0, 2.6), (2.5, 2.9))


def test_who_wins_where():
    results = [*lanes("story", *CLEAR), *lanes("code", *CLEAR), *lanes("word problem", *CLEAR[::-1])]
    assert verdict(results) == (
        "The adaptive cascade is fastest on 2 of 3 kinds; speculative decoding on word problem."
    )
    assert verdict(results[:6]) == "The adaptive cascade is fastest on all 2 kinds."


def test_one_prompt_gets_numbers():
    assert verdict(lanes("story", *CLEAR)) == (
        "The adaptive cascade is fastest: 3.20× against 2.10× of speculative decoding."
    )


def test_autoregressive_decoding_can_win():
    said = verdict(lanes("story", (0.5, 0.6), (0.9, 0.92)))
    assert said.startswith("Autoregressive decoding is fastest: 1.00× against 0.91× of")


def test_only_ranges_that_do_not_overlap_are_won():
    assert verdict(lanes("story", *OVERLAPPING)).startswith(
        "No clear winner: the adaptive cascade has 2.70×, speculative decoding 2.30×. There the ranges"
    )
    some = verdict([*lanes("story", *OVERLAPPING), *lanes("code", *CLEAR)])
    assert some.startswith("The adaptive cascade is fastest on 1 of 2 kinds; no clear winner on story. There the")
    none = verdict([*lanes("story", *OVERLAPPING), *lanes("code", *OVERLAPPING)])
    assert none.startswith("No clear winner on any of the 2 kinds. There the ranges")


def test_one_race_has_no_range_and_says_so():
    one = lanes("story", (2.0,), (3.0,))
    assert verdict(one) == (
        "The adaptive cascade is fastest in one race: 3.00× against 2.00× of speculative decoding. "
        "One race does not show how much a speed varies: ask for repeats."
    )
    assert verdict([*one, *lanes("code", (2.0,), (1.8,))]).startswith(
        "In one race each, the adaptive cascade is fastest on 1 of 2 kinds; speculative decoding on code. One race"
    )


def test_two_cascades_are_told_apart_by_their_K():
    results = [
        LaneResult("A fox", "autoregressive", "autoregressive", (1.0,)),
        LaneResult("A fox", "cascade, K=[[4,6]]", "cascade", (2.0,)),
        LaneResult("A fox", "cascade, K=[[2,4]]", "cascade", (2.5,)),
    ]
    said = verdict(results)
    assert said.startswith("Cascade, K=[[2,4]] is fastest in one race: 2.50× against 2.00× of cascade, K=[[4,6]].")
    figure = draw(results)
    assert [dot.marker.symbol for dot in figure.data] == ["triangle-up", "triangle-up-open"]


def test_another_models_text_does_not_win():
    assert verdict(lanes("story", (2.0,), (9.0,), counts=False)).startswith(
        "Speculative decoding is fastest in one race: 2.00×"
    )


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
