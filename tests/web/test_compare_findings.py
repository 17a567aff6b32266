"""The verdict of a comparison, and whether there is something to draw."""

from __future__ import annotations

import re

from csd.web.compare_findings import LaneResult, draw, lane_words, numbers, verdict


def lanes(kind: str, spec: tuple[float, ...], cascade: tuple[float, ...], **more) -> list[LaneResult]:
    return [
        LaneResult(kind, "autoregressive", "autoregressive", (1.0,) * len(spec)),
        LaneResult(kind, "speculative, small, k=4", "speculative", spec),
        LaneResult(kind, "adaptive cascade, a over b", "adaptive cascade", cascade, **more),
    ]


def winners(figure: str) -> list[str]:
    """The numbers of the rows that are marked as won."""
    return ["".join(re.findall(r">([\d.]+×)", row)) for row in re.findall(r"<li.*?</li>", figure) if "data-wins" in row]


def names(figure: str) -> list[str]:
    return re.findall(r'speeds-name">.*?</svg>(.*?)</span>', figure)


CLEAR = ((2.0, 2.2), (3.0, 3.4))  # of speculative decoding and of the cascade
OVERLAPPING = ((2.0, 2.6), (2.5, 2.9))


def test_who_wins_where():
    results = [*lanes("story", *CLEAR), *lanes("code", *CLEAR), *lanes("word problem", *CLEAR[::-1])]
    assert verdict(results) == (
        "The adaptive cascade is fastest on 2 of 3 kinds; speculative decoding on word problem."
    )
    assert verdict(results[:6]) == "The adaptive cascade is fastest on all 2 kinds."


def test_a_comparison_that_was_stopped_speaks_of_ranges_only_where_there_are_some():
    once = ((2.0,), (2.4,))
    some = verdict([*lanes("story", *CLEAR), *lanes("code", *once)])
    assert some.endswith("On code the two fastest have raced only once, which does not show how much speeds vary.")
    both = verdict([*lanes("story", *OVERLAPPING), *lanes("code", *once)])
    assert both.endswith("The ranges of the two fastest overlap, or they have raced only once.")


def test_one_prompt_gets_numbers():
    assert verdict(lanes("story", *CLEAR)) == (
        "The adaptive cascade is fastest: 3.2× against 2.1× of speculative decoding."
    )


def test_autoregressive_decoding_can_win():
    said = verdict(lanes("story", (0.5, 0.6), (0.8, 0.82)))
    assert said.startswith("Autoregressive decoding is fastest: 1.0× against 0.8× of")


def test_only_ranges_that_do_not_overlap_are_won():
    assert verdict(lanes("story", *OVERLAPPING)).startswith(
        "No clear winner: the adaptive cascade has 2.7×, speculative decoding 2.3×. The ranges"
    )
    some = verdict([*lanes("story", *OVERLAPPING), *lanes("code", *CLEAR)])
    assert some.startswith("The adaptive cascade is fastest on 1 of 2 kinds; story is too close to call. On story the")
    none = verdict([*lanes("story", *OVERLAPPING), *lanes("code", *OVERLAPPING)])
    assert none.startswith("No clear winner on any of the 2 kinds. The ranges")


def test_a_lead_that_may_change_is_no_win():
    near = "wo fastest are within 10%: which of them wins may change from run to run."
    close = lanes("edit", (3.0, 3.1), (3.2, 3.3))
    alone = "No clear winner: the adaptive cascade has 3.2×, speculative decoding 3.0×."
    assert verdict(close) == f"{alone} The t{near}"
    both = verdict([*lanes("story", *CLEAR), *close])
    assert both.endswith(f"fastest on 1 of 2 kinds; edit is too close to call. On edit the t{near}")
    assert near not in verdict(lanes("story", *OVERLAPPING)), "there the ranges overlap, which says more"
    mixed = verdict([*lanes("story", *CLEAR), *close, *lanes("list", *OVERLAPPING)])
    assert "; edit and list are too close to call. On list the ranges" in mixed and f"On edit the t{near}" in mixed
    single = verdict([*lanes("story", (2.0,), (3.0,)), *lanes("edit", (3.0,), (3.2,))])
    assert f"fastest on 1 of 2 kinds; edit is too close to call. On edit the t{near}" in single


def test_where_another_lane_wins_it_is_said_who_wrote_its_text():
    def lookup(kind: str, speedups: tuple[float, ...], copied: int) -> LaneResult:
        written = {"copier": copied, "big model": 100 - copied}
        return LaneResult(kind, "prompt lookup, k=8", "prompt lookup", speedups, written=written)

    results = [
        *lanes("story", *CLEAR), lookup("story", (1.1, 1.1), 20), *lanes("code", *CLEAR), lookup("code", (1.9, 1.9), 50),
        *lanes("edit", (2.0, 2.1), (3.9, 4.0)), lookup("edit", (4.6, 4.7), 80),
    ]  # fmt: skip
    assert verdict(results).endswith(" On edit the copier wrote 80% of prompt lookup's text, on story 20%.")
    figure = draw(results)
    assert winners(figure) == ["3.2×", "3.2×", "4.7×"]
    assert re.findall(r"<small>([^<]*)</small></h3>", figure) == [f"{share}% repeated words" for share in (20, 50, 80)]


def test_lanes_are_called_in_plain_words_where_that_tells_them_apart():
    one, other = (LaneResult("x", f"cascade, K=[[{n}]]", "cascade", (2.0,), words="a copier") for n in (4, 8))
    assert lane_words([one]) == {one.title: "cascade, a copier"}
    assert lane_words([one, other]) == {one.title: one.title, other.title: other.title}
    one, other = (LaneResult(kind, "cascade", "cascade", (2.0,), words=kind) for kind in ("story", "code"))
    assert lane_words([one, other]) == {"cascade": "cascade"}, "one lane with a plan for each kind"


def test_one_race_has_no_range_and_says_so():
    one = lanes("story", (2.0,), (3.0,))
    assert verdict(one) == (
        "The adaptive cascade is fastest in one race: 3.0× against 2.0× of speculative decoding. "
        "One race does not show how much a speed varies: ask for repeats."
    )
    assert verdict([*one, *lanes("code", (2.0,), (1.7,))]).startswith(
        "In one race each, the adaptive cascade is fastest on 1 of 2 kinds; speculative decoding on code. One race"
    )


def test_two_cascades_are_told_apart_by_their_K():
    results = [
        LaneResult("A fox", "autoregressive", "autoregressive", (1.0,)),
        LaneResult("A fox", "cascade, K=[[4,6]]", "cascade", (2.0,)),
        LaneResult("A fox", "cascade, K=[[2,4]]", "cascade", (2.5,)),
    ]
    said = verdict(results)
    assert said.startswith("Cascade, K=[[2,4]] is fastest in one race: 2.5× against 2.0× of cascade, K=[[4,6]].")
    figure = draw(results)
    assert names(figure) == ["cascade, K=[[4,6]]", "cascade, K=[[2,4]]"]
    assert [" data-again" in row for row in re.findall(r"<li.*?</li>", figure)] == [False, True]
    assert [(one.name, one.value, one.is_filled) for one in numbers(results)] == [
        ("cascade, K=[[2,4]]", "2.5×", False),
        ("cascade, K=[[4,6]]", "2.0×", True),
    ]


def test_another_models_text_does_not_win():
    assert verdict(lanes("story", (2.0,), (9.0,), counts=False)).startswith(
        "Speculative decoding is faster in one race: 2.0×"
    )


def test_without_speedups_there_is_nothing_to_say():
    assert verdict(lanes("story", (), ())) == "" == verdict([])
    assert numbers(lanes("story", (), ())) == () == numbers([])
    empty = draw(lanes("story", (), ()))
    assert names(empty) == ["speculative", "adaptive cascade"] and "speeds-bar" not in empty


def test_of_many_kinds_the_large_number_is_the_speed_of_the_best_lane_and_the_verdict_says_where_it_wins():
    results = [*lanes("story", *CLEAR), *lanes("code", *CLEAR), *lanes("list", *OVERLAPPING)]
    (speed,) = numbers(results)
    assert (speed.name, speed.value) == ("adaptive cascade, over 3 kinds", "2.7–3.2×")
    assert speed.method == "adaptive cascade" and not speed.wins, "one kind is too close to call"
    assert numbers(results[: len(results) * 2 // 3])[0].wins
    assert verdict(results).startswith("The adaptive cascade is fastest on 2 of 3 kinds; list is too close to call.")
    assert numbers(lanes("story", *OVERLAPPING) + lanes("code", *OVERLAPPING)) == ()
    assert winners(draw(results)) == ["3.2×"] * 2


def test_rows_that_are_still_to_come_have_the_names_that_they_will_have():
    """A lane whose plan differs from kind to kind is one, though the first race knows only one of its plans."""
    planned = [LaneResult(kind, "cascade", "cascade", ()) for kind in ("story", "code")]
    ran = [LaneResult("story", "cascade, K=[[4,6]]", "cascade", (2.0,))]
    before, after = draw((), planned, "story"), draw(ran, planned, "code")
    assert names(before) == names(after) == ["cascade", "cascade"]
    assert (before.count("speeds-bar"), after.count("speeds-bar")) == (0, 1)
    assert before.index("data-racing") < before.index("Story") < after.index("data-racing")


def test_the_axis_says_whether_there_are_ranges():
    assert "speed-up (×)<" in draw(lanes("story", (2.0,), (3.0,)))
    assert "speed-up (×), median and range<" in draw(lanes("story", (2.0, 2.1), (3.0, 3.1)))
