"""Measured costs and the number of threads, with fake models that take a known time on a fake clock."""

from __future__ import annotations

import pytest
import torch

from csd.models.backends import costs


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 0.0

        def __call__(self) -> float:
            return self.now

    found = Clock()
    monkeypatch.setattr(costs, "perf_counter", found)
    return found


class Backend:
    """A model whose pass over w tokens takes `seconds(w)`; it notes the widths and refuses to be overfilled."""

    def __init__(self, clock, seconds, seen=None, widest=None):
        self.clock, self.seconds, self.seen, self.widest = clock, seconds, [] if seen is None else seen, widest
        self.lanes = 0  # open ones

    def open_lane(self, capacity):
        assert self.widest is None or capacity <= self.widest
        self.lanes += 1
        return Lane(self, capacity)


class Lane:
    def __init__(self, backend, capacity):
        self.backend, self.capacity = backend, capacity

    def run(self, ids, keep, rows):
        assert keep + len(ids) <= self.capacity
        self.backend.seen.append(len(ids))
        self.backend.clock.now += self.backend.seconds(len(ids))
        return torch.zeros(rows, 8)

    def release(self):
        self.backend.lanes -= 1


def test_the_table_is_what_the_model_takes(clock):
    table = costs.measure_costs({"target": Backend(clock, lambda width: 1e-3 + 1e-4 * width)}, {"target": 1024})[
        "target"
    ]
    assert table == pytest.approx([1e-3 + 1e-4 * width for width in range(1, costs.WIDEST + 1)])


def test_the_usual_widths_ran_before_they_are_timed(clock):
    seen = []
    costs.measure_costs({"target": Backend(clock, lambda width: 1e-4, seen)}, {"target": 1024})
    first = seen[1:]  # after the tokens that are cached
    assert first[: len(costs.WARMED)] == costs.WARMED
    assert set(costs.WIDTHS) <= set(costs.WARMED) and set(range(1, 25)) <= set(costs.WARMED)


def test_a_slow_model_is_not_run_at_every_width_and_the_rest_is_a_line(clock):
    seen = []
    backend = Backend(clock, lambda width: 0.1 + 0.01 * width, seen)
    table = costs.measure_costs({"target": backend}, {"target": 1024})["target"]
    assert max(seen[1:]) < 20
    assert table[64] == pytest.approx(0.1 + 0.65)


def test_a_disturbed_width_is_not_dearer_than_a_wider_one(clock):
    backend = Backend(clock, lambda width: 0.5 if width == 8 else 1e-3 * width)
    table = costs.measure_costs({"target": backend}, {"target": 1024})
    assert list(table["target"]) == sorted(table["target"])
    assert table["target"][7] < 0.05


@pytest.mark.parametrize("context", [1, 2, 3, 10, 64, 100])
def test_a_short_context_is_never_overfilled(clock, context):
    backend = Backend(clock, lambda width: 1e-3 * width, widest=context)
    table = costs.measure_costs({"target": backend}, {"target": context})["target"]
    assert len(table) == costs.WIDEST
    assert all(seconds > 0 for seconds in table)
    costs.best_threads(backend, context, 2)


def test_lanes_are_released(clock):
    backends = {name: Backend(clock, lambda width: 1e-3 * width) for name in ("target", "draft")}
    costs.measure_costs(backends, {"target": 1024, "draft": 64})
    costs.best_threads(backends["target"], 1024, 2)
    assert [backend.lanes for backend in backends.values()] == [0, 0]


def test_the_fastest_number_of_threads_wins(clock):
    before = torch.get_num_threads()
    try:
        for best in (1, 2, 4):
            slow = Backend(clock, lambda width, best=best: 1e-3 * (1 + abs(torch.get_num_threads() - best)))
            assert costs.best_threads(slow, 1024, 6) == best
    finally:
        torch.set_num_threads(before)


class Padding(Backend):
    """A GPU's: each pass costs as much as the next of a few widths."""

    widths = (1, 8, 32, 80)

    def __init__(self, clock, seen=None):
        super().__init__(clock, lambda count: 1e-3 * next(width for width in self.widths if width >= count), seen)


def test_fixed_widths_cost_steps_not_lines(clock):
    table = costs.measure_costs({"target": Padding(clock)}, {"target": 1024})["target"]
    expected = [1e-3] + [8e-3] * 7 + [32e-3] * 24 + [80e-3] * 33
    assert table == pytest.approx(expected)


def test_only_the_fixed_widths_are_timed(clock):
    seen = []
    costs.measure_costs(
        {"target": Padding(clock, seen), "draft": Backend(clock, lambda w: 1e-3)}, {"target": 1024, "draft": 1024}
    )
    assert set(seen[1:]) == {1, 8, 32, 80}


def test_beyond_the_widest_a_pass_is_several(clock):
    assert costs.step_costs({1: 1.0, 32: 4.0})[30:] == pytest.approx([4.0] * 2 + [5.0] + [8.0] * 31 + [9.0])


def test_a_width_that_a_wider_pass_beats_is_not_worth_having():
    assert costs.slower_than_wider({1: 5.0, 4: 6.8, 8: 4.9, 16: 5.0, 32: 6.9, 64: 6.9}) == (4,)
    assert costs.slower_than_wider({1: 5.0, 2: 5.1, 4: 5.0}) == ()  # noise


def test_the_choice_of_tokens_that_is_timed_is_that_of_a_race(clock, monkeypatch):
    from csd.decoding.acceptance import Greedy

    reviewed, launch = [], Greedy.launch

    def choose(self, draft, logits, start, choice=None):
        reviewed.append((len(draft), len(logits)))
        return launch(self, draft, logits, start, choice)

    monkeypatch.setattr(Greedy, "launch", choose)
    costs.measure_costs({"target": Padding(clock)}, {"target": 1024})
    assert set(reviewed) == {(0, 1), (7, 8), (31, 32), (79, 80)}
