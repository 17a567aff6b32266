"""What an address owes to the queue."""

from __future__ import annotations

from csd.web.debts import Debts


def test_a_debt_fades_with_the_clock():
    debts = Debts()
    debts.put("heavy", 46.0, 10.0)
    assert debts.start("heavy", 10.0) == 46.0 and debts.start("other", 10.0) == 10.0
    assert debts.start("heavy", 50.0) == 50.0
    debts.put("other", 49.0, 50.0)
    assert len(debts) == 0


def test_the_largest_debts_are_kept_where_many_addresses_have_one():
    debts = Debts(most=3)
    for number in range(10):
        debts.put(str(number), 1.0 + number, 0.0)
    assert len(debts) == 3 and debts.start("9", 0.0) == 10.0 and debts.start("0", 0.0) == 0.0
