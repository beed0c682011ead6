"""Each check can hold, fail, and be undecided."""

from __future__ import annotations

import pytest
from tamis_lab.papers import curve_claims as claims
from tamis_lab.papers.curve_claims import Check, exact_values

RISING = exact_values([(1, 1.0), (10, 10.0), (100, 100.0)])
FLAT = exact_values([(1, 5.0), (10, 5.0), (100, 5.0)])
FALLING = exact_values([(1, 9.0), (10, 3.0), (100, 1.0)])
ZERO = exact_values([(1, 0.0), (10, 0.0)])
CURVES = {"rising": RISING, "flat": FLAT, "falling": FALLING, "zero": ZERO, "none": []}


@pytest.mark.parametrize(
    ("check", "holds"),
    [
        (claims.above("rising", "flat"), False),
        (claims.above("rising", "flat", since=10), True),
        (claims.above("rising", "flat", since=10, times=3), False),
        (claims.above("flat", "none"), None),
        (claims.alike("flat", "flat", 1.01), True),
        (claims.alike("rising", "flat", 2), False),
        (claims.alike("rising", "none", 2), None),
        (claims.overtakes("rising", "flat", 1, 10), True),
        (claims.overtakes("rising", "flat", 10, 100), False),
        (claims.overtakes("rising", "flat", 1, 1000), None),
        (claims.gains("rising", "flat"), True),
        (claims.gains("falling", "flat"), False),
        (claims.gains("falling", "none"), None),
        (claims.grows("rising", 0.9, 1.1), True),
        (claims.grows("flat", 0.9, 1.1), False),
        (claims.grows("none", 0.9, 1.1), None),
        (claims.grows("zero", 0.9, 1.1), None),
        (claims.falls_faster("falling", "flat"), True),
        (claims.falls_faster("flat", "falling"), False),
        (claims.falls_faster("flat", "none"), None),
        (claims.falls_faster("flat", "zero"), None),
        (claims.at_least("rising", 10, 10), True),
        (claims.at_least("rising", 10, 11), False),
        (claims.at_least("rising", 11, 0), None),
        (claims.at_most("rising", 10, 10), True),
        (claims.at_most("rising", 10, 9), False),
        (claims.at_most("rising", 11, 9), None),
        (claims.near("rising", [(10, 11.0)], 1.2), True),
        (claims.near("rising", [(10, 11.0)], 1.05), False),
        (claims.near("rising", [(7, 11.0)], 1.05), None),
        (claims.each_above_next(["flat", "zero"]), None),
        (claims.each_above_next(["rising", "rising"]), True),
        (claims.each_above_next(["flat", "rising"]), False),
        (claims.zero("zero"), True),
        (claims.zero("flat"), False),
        (claims.zero("none"), None),
        (
            claims.all_hold(claims.zero("zero"), claims.zero("flat"), claims.zero("none")),
            False,
        ),
        (claims.all_hold(claims.zero("zero"), claims.zero("none")), None),
        (claims.all_hold(claims.zero("zero")), True),
    ],
)
def test_a_check_holds_fails_or_is_undecided(check: Check, holds: bool | None) -> None:
    verdict = check(CURVES)
    assert verdict.holds is holds
    assert verdict.evidence
