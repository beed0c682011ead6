"""Guards: strings that a text must have to pass a test. They let an index find tests by text.

`LIKE 'ab%'` is equivalent to the prefix `ab`. `LIKE 'ab%c_d'` has the prefix as a *guard*: without
the prefix the test fails, with it the test must still be evaluated.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from tamis.language.expr import Like, Literal, RLike, StringTest
from tamis.language.patterns import Run, like_runs


class GuardPosition(Enum):
    """The position in the text where a guard must occur."""

    WHOLE = "whole"
    START = "start"
    END = "end"
    ANYWHERE = "anywhere"


class PatternGuard(NamedTuple):
    """A string that the text must have.

    Attributes:
        place: Where it must occur.
        part: The string.
        folded: It is searched for in the lower-cased text.
        decides: The guard is equivalent to the test.
    """

    place: GuardPosition
    part: str
    folded: bool
    decides: bool


_PLACES = {
    "contains": GuardPosition.ANYWHERE,
    "startswith": GuardPosition.START,
    "endswith": GuardPosition.END,
}


def guard_of(test: StringTest | Like | RLike) -> PatternGuard | None:
    """Return the guard of a test; None if it has none."""
    if isinstance(test, RLike):
        return None
    if isinstance(test, StringTest):
        if not isinstance(test.part, Literal):
            return None  # the literal is the text: contains('a,b,c', code)
        assert isinstance(test.part.value, str)
        return PatternGuard(_PLACES[test.function], test.part.value, False, True)
    return _like_guard(test)


def _like_guard(like: Like) -> PatternGuard | None:
    runs = like_runs(like.pattern, like.escape, like.ignore_case)
    pieces = [_literal_parts(run) for run in runs]
    simple = all(len(parts) == 1 for parts in pieces)  # no _
    fold = like.ignore_case
    if len(pieces) == 1:  # no %
        if simple:
            return PatternGuard(GuardPosition.WHOLE, pieces[0][0], fold, True)
        head = pieces[0][0]
    else:
        head = pieces[0][0]
        if simple and len(pieces) <= 3:
            first, *middle, last = (piece[0] for piece in pieces)
            if not middle and not (first and last):  # 'ab%', '%ab', '%'
                place = GuardPosition.START if first or not last else GuardPosition.END
                return PatternGuard(place, first or last, fold, True)
            if middle and not first and not last:  # '%ab%'
                return PatternGuard(GuardPosition.ANYWHERE, middle[0], fold, True)
    if head:
        return PatternGuard(GuardPosition.START, head, fold, False)
    tail = pieces[-1][-1]
    if tail:
        return PatternGuard(GuardPosition.END, tail, fold, False)
    longest = max((part for piece in pieces for part in piece), key=len)
    return PatternGuard(GuardPosition.ANYWHERE, longest, fold, False) if longest else None


def _literal_parts(run: Run) -> list[str]:
    """Split a run at every `_`."""
    parts = [""]
    for character in run:
        if character is None:
            parts.append("")
        else:
            parts[-1] += character
    return parts
