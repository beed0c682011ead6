"""LIKE patterns, and which of them match all that others do.

A pattern is taken as a text in which % and _ are letters of their own. If P matches Q so read — _
of P any letter of Q but %, % of P anything — then P matches all that Q does: put for each letter of
Q what stands there. The converse does not always hold, and need not. Matching patterns so is
transitive, as it is to put one substitution after another.
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
Wild = tuple[Letter, ...]

ONE: Final = Wildcard.ONE
ANY: Final = Wildcard.ANY


def string_test_runs(function: str, part: str) -> list[Run]:
    """Return the runs of the LIKE pattern that is equivalent to a string test with a constant part.

    >>> string_test_runs("startswith", "ab")  # LIKE 'ab%'
    [('a', 'b'), ()]
    """
    run: Run = tuple(part)
    return {"contains": [(), run, ()], "startswith": [run, ()], "endswith": [(), run]}[function]


def wildcard_pattern(runs: Iterable[Run]) -> Wild:
    """The pattern of what stands between two %, in one spelling: `%_%` is `_%`."""
    letters: list[Letter] = []
    begun = False
    for run in runs:
        if begun and letters[-1:] != [ANY]:
            letters.append(ANY)
        begun = True
        for letter in run:
            if letter is None and letters[-1:] == [ANY]:
                letters[-1:] = [ONE, ANY]
            else:
                letters.append(ONE if letter is None else letter)
    return tuple(letters)


def head_of(pattern: Wild) -> str:
    """What stands before the first wildcard."""
    letters: list[str] = []
    for letter in pattern:
        if not isinstance(letter, str):
            break
        letters.append(letter)
    return "".join(letters)


def matches_all(pattern: Wild, other: Sequence[Letter]) -> bool:
    """Whether it matches all that the other does, by putting it letter for letter; or a text."""
    at = place = 0
    # Where to go on after the last %, which then takes one letter more.
    retry, taken = -1, 0
    while place < len(other):
        letter = pattern[at] if at < len(pattern) else None
        if letter is ANY:
            at += 1
            retry, taken = at, place
        elif letter is not None and (
            letter == other[place] or (letter is ONE and other[place] is not ANY)
        ):
            at += 1
            place += 1
        elif retry >= 0:
            taken += 1
            at, place = retry, taken
        else:
            return False
    return all(letter is ANY for letter in pattern[at:])
