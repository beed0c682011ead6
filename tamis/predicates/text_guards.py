"""What must stand in a text for a test of it to hold: the way to look up tests by the text.

`LIKE 'ab%'` is the prefix `ab` and nothing else; `LIKE 'ab%c_d'` has it as a *guard*: where the
prefix is missing the test fails, where it is there the test must still be tried.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from tamis.language.expr import Like, Literal, RLike, StringTest
from tamis.language.patterns import Run, like_runs


class GuardPosition(Enum):
    """Where a guard must stand."""

    WHOLE = "whole"
    START = "start"
    END = "end"
    ANYWHERE = "anywhere"


class PatternGuard(NamedTuple):
    """A part that the text must have.

    Attributes:
        place: Where it must stand.
        part: What must stand there.
        folded: It is looked for in the text in lower case.
        decides: There is nothing more to the test.
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
    """The guard of a test; None if it has none."""
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
