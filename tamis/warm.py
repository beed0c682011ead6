"""Compile the kernels of the default engine, so that nobody waits for it: `python -m tamis.warm`.

Numba compiles a kernel when it is first called and keeps the result beside the code: a minute, once
per installation.
"""

from __future__ import annotations

from tamis.matcher import Matcher

_SELECTORS = (
    "a = 1 AND b > 2 AND c < 3",
    "a > 0 OR s = 'x'",
    "NOT (a = 2) XOR b IS NULL",
    "a IN (1, 2, 3) AND d >= 0.5 AND t > 'm'",
    "AT LEAST 2 OF (a = 1, b = 4, c = 5)",
    "contains(s, 'x') AND a + b > 3",
    "a <> 1",
)


def warm() -> None:
    """Use every kernel once."""
    events: list[dict[str, object]] = [
        {"a": i % 4, "b": i % 7, "c": None if i % 3 else i, "d": i / 3, "s": "xyz"[i % 3], "t": "n"}
        for i in range(128)
    ]
    matcher = Matcher()
    for number, selector in enumerate(_SELECTORS):
        matcher.add(number, selector)
    matcher.match_batch(events).to_arrow()
    matcher.counts(events)
    few = Matcher()
    few.add_many((i, f"a = {i % 4} AND d < {i}.5") for i in range(6000))
    few.match(events[0])
    few.match_batch(events, limit=2).per_event()
    for i in range(0, 6000, 2):
        few.remove(i)
    few.match_batch(events).counts()


if __name__ == "__main__":
    warm()
