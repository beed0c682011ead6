"""Texts that text tests can distinguish, found by walking automata or by ordering.

Comparisons, IN, LIKE and string tests all accept regular languages, so together they form a finite
automaton: a text takes each of them to a state. The states, each represented by a shortest text,
are all that the tests can distinguish. A state is a tuple with one part per test; the truth of a
test depends on its part only. Tests that only compare, or test a prefix, need no automaton: they
divide the texts, in their order, into ranges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from tamis.covering.regex_samples import samples
from tamis.covering.spans import text_after_prefix
from tamis.covering.wildcards import string_test_runs
from tamis.language.expr import Like, Literal, Predicate, RLike, StringTest
from tamis.language.patterns import Run, like_runs

# The maximum number of states of an automaton, and of steps of single tests.
_MAX_STATES = 1_500
_MAX_STEPS = 150_000
# Letters that read well in a witness, best first.
_READABLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_.~"
_DOTTED_I = "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}"
_SIGMAS = "\N{GREEK SMALL LETTER SIGMA}\N{GREEK SMALL LETTER FINAL SIGMA}"
_LAST_CODE_POINT = 0x10FFFF


def texts(tests: Sequence[Predicate], constants: list[str]) -> tuple[list[str], tuple[int, ...]]:
    """Return texts with every combination of truths, and the tests for which that is not certain.

    Args:
        tests: Tests of one value; those that do not test text are skipped.
        constants: The constants of comparisons.
    """
    unsure = [i for i, test in enumerate(tests) if _has_no_automaton(test)]
    others = [i for i, test in enumerate(tests) if _looks_at_text(test) and i not in unsure]
    hard = [i for i in others if not _is_prefix(tests[i])]
    sharp = [tests[i] for i in others]
    result: list[str] | None = None
    if hard:
        result = _walk_states(sharp, constants)
        if result is None:
            unsure += hard
            sharp = [tests[i] for i in others if i not in hard]
    if result is None:
        result = _range_texts(sharp, constants)
    for i in unsure:
        result += _guess_texts(tests[i])
    return result, tuple(sorted(unsure))


def _looks_at_text(test: Predicate) -> bool:
    if isinstance(test, StringTest):
        return isinstance(test.text, Literal) or isinstance(test.part, Literal)
    return isinstance(test, Like)


def _has_no_automaton(test: Predicate) -> bool:
    """Return whether a test has no automaton here."""
    if isinstance(test, RLike):
        return True
    # The lower case of a capital sigma depends on what follows it.
    return (
        isinstance(test, Like)
        and test.ignore_case
        and any(sigma in test.pattern.lower() for sigma in _SIGMAS)
    )


def _guess_texts(test: Predicate) -> list[str]:
    """Return texts that the test is likely to accept."""
    if isinstance(test, RLike):
        return samples(test.pattern)
    if isinstance(test, Like):
        runs = like_runs(test.pattern, test.escape, test.ignore_case)
        return ["".join(c or "a" for run in runs for c in run)]
    if isinstance(test, StringTest):
        part = test.part if isinstance(test.part, Literal) else test.text
        return [part.value] if isinstance(part, Literal) and isinstance(part.value, str) else []
    return []


# -- ranges ---------------------------------------------------------------------------------------


def _is_prefix(test: Predicate) -> bool:
    return _prefix(test) is not None


def _prefix(test: Predicate) -> str | None:
    """Return the prefix, or the whole text, that the test requires, if it requires no more."""
    if isinstance(test, Like):
        if test.ignore_case:
            return None
        runs = like_runs(test.pattern, test.escape, False)
        if len(runs) > 2 or None in runs[0] or (runs[-1] and len(runs) == 2):
            return None
        return "".join(runs[0])  # type: ignore[arg-type]
    if isinstance(test, StringTest) and test.function == "startswith":
        if isinstance(test.part, Literal):
            return test.part.value if isinstance(test.part.value, str) else ""
    return None


def _range_texts(tests: Sequence[Predicate], constants: list[str]) -> list[str]:
    """Return a text at each point where a truth can change, and one between each two.

    The least text above t is t followed by U+0000. Texts with the prefix p end before
    `text_after_prefix(p)`.
    """
    places = {"", *constants}
    for test in tests:
        prefix = _prefix(test)
        assert prefix is not None
        places |= {prefix, text_after_prefix(prefix) or ""}
    ordered = sorted(places)
    result = list(ordered)
    for low, high in pairwise((*ordered, None)):
        assert low is not None
        for more in ("a", "A", "0", " ", "\0"):
            if high is None or low + more < high:
                result.append(low + more)
                break
    return result


# -- automata -------------------------------------------------------------------------------------


class _Walker(NamedTuple):
    """One test's part of the state: its start, and the state after a letter."""

    start: object
    step: Callable[[object, str], object]


def _walk_states(tests: Sequence[Predicate], constants: list[str]) -> list[str] | None:
    """Return a shortest text for every state; None if there are too many."""
    ordered = sorted(set(constants))
    walkers = [_comparison_walker(c) for c in ordered] + [_walker(test) for test in tests]
    letters = _alphabet(tests, ordered)
    begin = tuple([walker.start for walker in walkers])
    reached = {begin: ""}
    pending = deque([begin])
    steps = _MAX_STEPS
    while pending:
        state = pending.popleft()
        text = reached[state]
        steps -= len(letters) * len(walkers)
        if steps < 0:
            return None
        for letter in letters:
            after = tuple([w.step(part, letter) for w, part in zip(walkers, state, strict=True)])
            if after not in reached:
                if len(reached) == _MAX_STATES:
                    return None
                reached[after] = text + letter
                pending.append(after)
    return list(reached.values())


def _comparison_walker(constant: str) -> _Walker:
    """Compare with a constant: the state is the number of equal letters, or less, or greater."""
    less, greater, length = -1, -2, len(constant)

    def step(alike: object, letter: str) -> object:
        assert isinstance(alike, int)
        if alike < 0:
            return alike
        if alike == length:
            return greater
        if letter == constant[alike]:
            return alike + 1
        return less if letter < constant[alike] else greater

    return _Walker(0, step)


def _walker(test: Predicate) -> _Walker:
    if isinstance(test, Like):
        runs = like_runs(test.pattern, test.escape, test.ignore_case)
        return _pattern_walker(runs, test.ignore_case)
    assert isinstance(test, StringTest)
    constant = test.part if isinstance(test.part, Literal) else test.text
    assert isinstance(constant, Literal)
    if not isinstance(constant.value, str):
        return _Walker(None, lambda state, letter: state)  # unknown of every text
    if isinstance(test.part, Literal):
        return _pattern_walker(string_test_runs(test.function, constant.value), False)
    return _substring_walker(constant.value, anywhere=test.function != "startswith")


def _pattern_walker(runs: Sequence[Run], ignore_case: bool) -> _Walker:
    """Match a LIKE pattern: the state is the set of reached positions; None is any letter."""
    pattern: list[str | None] = []
    loops: set[int] = set()  # the positions of %
    for number, run in enumerate(runs):
        if number:
            loops.add(len(pattern))
        pattern += run
    length = len(pattern)
    # A match that has reached a final % stays accepted; positions before the last reached % no
    # longer matter.
    accepted = frozenset((length,)) if length in loops else None

    def advance(places: frozenset[int], letter: str) -> frozenset[int]:
        after = {p for p in places if p in loops}
        after |= {p + 1 for p in places if p < length and pattern[p] in (None, letter)}
        if accepted is not None and length in after:
            return accepted
        latest = max((p for p in after if p in loops), default=0)
        return frozenset(p for p in after if p >= latest)

    def step(places: object, letter: str) -> object:
        assert isinstance(places, frozenset)
        for lower in letter.lower() if ignore_case else letter:
            places = advance(places, lower)
        return places

    return _Walker(accepted if accepted and not length else frozenset((0,)), step)


def _substring_walker(text: str, anywhere: bool) -> _Walker:
    """Match a constant that contains, begins or ends with the value: where the value may end."""

    def step(places: object, letter: str) -> object:
        assert isinstance(places, frozenset)
        return frozenset(p + 1 for p in places if p < len(text) and text[p] == letter)

    return _Walker(frozenset(range(len(text) + 1)) if anywhere else frozenset((0,)), step)


def _alphabet(tests: Sequence[Predicate], constants: list[str]) -> list[str]:
    """Return a letter of every kind that the tests distinguish.

    These are all letters that they name, and those whose lower case is one of them. Of all others
    there is one or, where texts are compared, one between each two.
    """
    named = {letter for constant in constants for letter in constant}
    folded: set[str] = set()
    for test in tests:
        if isinstance(test, Like):
            runs = like_runs(test.pattern, test.escape, test.ignore_case)
            letters = {letter for run in runs for letter in run if letter is not None}
            named |= letters
            if test.ignore_case:
                folded |= letters
        elif isinstance(test, StringTest):
            literal = test.part if isinstance(test.part, Literal) else test.text
            if isinstance(literal, Literal) and isinstance(literal.value, str):
                named |= set(literal.value)
    if any(isinstance(test, Like) and test.ignore_case for test in tests):
        upper = _capitals()
        named |= {capital for letter in folded for capital in upper.get(letter, ())}
        named.add(_DOTTED_I)  # the only letter whose lower case has two letters
    return sorted(named) + _other_letters(named, bool(constants))


def _other_letters(named: set[str], everywhere: bool) -> list[str]:
    points = [-1, *sorted(map(ord, named)), _LAST_CODE_POINT + 1]
    readable = [c for c in _READABLE if c not in named]
    if readable and not everywhere:
        return readable[:1]
    gaps = list(pairwise(points))
    letters = [
        next((c for c in readable if a < ord(c) < b), _letter_between(a, b)) for a, b in gaps
    ]
    return [letter for letter in letters if letter][: None if everywhere else 1]


def _letter_between(low: int, high: int) -> str:
    point = low + 1
    if 0xD800 <= point <= 0xDFFF:  # texts contain no surrogates
        point = 0xE000
    return chr(point) if point < high else ""


@cache
def _capitals() -> dict[str, list[str]]:
    """Return, for each letter, the other letters whose lower case contains it."""
    capitals: dict[str, list[str]] = {}
    for point in range(_LAST_CODE_POINT + 1):
        if not 0xD800 <= point <= 0xDFFF:
            capital = chr(point)
            lower = capital.lower()
            if lower != capital:
                for letter in lower:
                    capitals.setdefault(letter, []).append(capital)
    return capitals
