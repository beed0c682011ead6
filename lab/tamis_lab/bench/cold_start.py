"""Time from the start of a process to the first answer; call each function in a fresh process.

Tamis is not imported at the top, because its import is part of what is measured.
"""

from __future__ import annotations

import time

EVENT = {"a0": 1, "a1": 2}


def first_match(engine: str) -> float:
    """Return the seconds from the import to the first answer of a new matcher."""
    begun = time.perf_counter()
    import tamis

    matcher = tamis.Matcher(engine=engine)
    matcher.add("both", "a0 = 1 AND a1 BETWEEN 2 AND 3")
    if matcher.match(EVENT) != ["both"]:
        raise AssertionError("the first answer is wrong")
    return time.perf_counter() - begun


def save_matcher(engine: str, size: int, path: str) -> int:
    """Save a matcher with a number of subscriptions."""
    import tamis
    from tamis_lab.workloads.selective import SelectiveWorkload

    matcher = tamis.Matcher(engine=engine)
    matcher.add_many(enumerate(SelectiveWorkload(subscriptions=size).selectors()))
    matcher.save(path)
    return len(matcher)


def first_match_of_saved(path: str) -> float:
    """Return the seconds from the import to the first answer of a saved matcher."""
    begun = time.perf_counter()
    import tamis

    matcher = tamis.Matcher.open(path)
    matcher.match(EVENT)
    return time.perf_counter() - begun
