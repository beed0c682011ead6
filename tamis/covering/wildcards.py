"""LIKE patterns, and which patterns match everything that others match.

A pattern is treated as a text in which % and _ are letters of their own. If P matches Q read in
this way (_ of P matches any letter of Q except %, % of P matches anything), then P matches
everything that Q matches: substitute each letter of Q by what it stands for. The converse does not
always hold, and need not. This relation is transitive, because substitutions compose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final

from tamis.language.patterns import Run


class Wildcard(Enum):
    """A letter of a pattern that stands for others."""

    ONE = "_"
    ANY = "%"


Letter = str | Wildcard
WildcardPattern = tuple[Letter, ...]

ONE: Final = Wildcard.ONE
ANY: Final = Wildcard.ANY


def string_test_runs(function: str, part: str) -> list[Run]:
    """Return the runs of the LIKE pattern that is equivalent to a string test with a constant part.

    >>> string_test_runs("startswith", "ab")  # LIKE 'ab%'
    [('a', 'b'), ()]
    """
    run: Run = tuple(part)
    return {"contains": [(), run, ()], "startswith": [run, ()], "endswith": [(), run]}[function]


def wildcard_pattern(runs: Iterable[Run]) -> WildcardPattern:
    """Return the pattern of runs between %, in a unique form: `%_%` becomes `_%`."""
    letters: list[Letter] = []
    started = False
    for run in runs:
        if started and letters[-1:] != [ANY]:
            letters.append(ANY)
        started = True
        for letter in run:
            if letter is None and letters[-1:] == [ANY]:
                letters[-1:] = [ONE, ANY]
            else:
                letters.append(ONE if letter is None else letter)
    return tuple(letters)


def head_of(pattern: WildcardPattern) -> str:
    """Return the part before the first wildcard."""
    letters: list[str] = []
    for letter in pattern:
        if not isinstance(letter, str):
            break
        letters.append(letter)
    return "".join(letters)


def matches_all(pattern: WildcardPattern, other: Sequence[Letter]) -> bool:
    """Return whether it matches everything that the other pattern matches, or a given text."""
    at = place = 0
    # Where to continue after the last %, which then takes one letter more.
    retry, retry_place = -1, 0
    while place < len(other):
        letter = pattern[at] if at < len(pattern) else None
        if letter is ANY:
            at += 1
            retry, retry_place = at, place
        elif letter is not None and (
            letter == other[place] or (letter is ONE and other[place] is not ANY)
        ):
            at += 1
            place += 1
        elif retry >= 0:
            retry_place += 1
            at, place = retry, retry_place
        else:
            return False
    return all(letter is ANY for letter in pattern[at:])
