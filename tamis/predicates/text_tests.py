"""Tests of text, evaluated once for every distinct text of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import re2

from tamis.language.expr import Like, Literal, RLike, StringTest
from tamis.language.patterns import like_matches, regex_matches
from tamis.predicates.shapes import Text
from tamis.predicates.substrings import Substrings
from tamis.predicates.text_guards import GuardPosition, guard_of

Check: TypeAlias = Callable[[str], bool]

# With fewer than this, trying each one is as fast.
_MIN_FOR_SET = 4
# The size of the cache for the texts of earlier batches: about this many words of 8 bytes.
_MAX_CACHE_WORDS = 1_000_000
# The memory that RE2 may use for one set of expressions, in bytes.
_MEMORY = 64 << 20


class TextTests:
    """The text tests of one term, built as a whole."""

    def __init__(self, tests: Mapping[int, Text]) -> None:
        """Build the structure from tests by predicate id."""
        self._negated = [id for id, test in tests.items() if not test.wanted]
        self._is_negated = frozenset(self._negated)
        self._checks: dict[int, Check] = {}
        plain: list[tuple[GuardPosition, str, int]] = []
        folded: list[tuple[GuardPosition, str, int]] = []
        regexes: list[tuple[str, int]] = []
        self._unguarded: list[int] = []
        for id, (test, _) in tests.items():
            guard = guard_of(test)
            if guard is None or not guard.decides:
                self._checks[id] = _check(test)
            if guard is not None:
                (folded if guard.folded else plain).append((guard.place, guard.part, id))
            elif isinstance(test, RLike):
                regexes.append((test.pattern, id))
            else:
                self._unguarded.append(id)
        self._plain, self._folded = Substrings(plain), Substrings(folded)
        self._has_folded = bool(folded)
        self._regexes = _Regexes(regexes)
        self._gone: frozenset[int] = frozenset()
        self._cache: dict[str, list[int]] = {}
        self._cache_words = 0

    def without_tests(self, ids: frozenset[int]) -> TextTests:
        """Exclude some tests from the results; they are still evaluated."""
        self._gone |= ids
        self._cache, self._cache_words = {}, 0
        return self

    def satisfied_predicates(self, text: str) -> list[int]:
        """Return the ids of the tests that a text satisfies."""
        cached = self._cache.get(text)
        if cached is not None:
            return cached
        true = list(self._true_ids(text))
        if self._negated:
            negated, failed = self._is_negated, frozenset(true)
            true = [id for id in true if id not in negated]
            true += [id for id in self._negated if id not in failed]
        if self._gone:
            true = [id for id in true if id not in self._gone]
        if self._cache_words > _MAX_CACHE_WORDS:
            self._cache, self._cache_words = {}, 0
        self._cache[text] = true
        self._cache_words += len(true) + len(text) // 8 + 26
        return true

    def _true_ids(self, text: str) -> Iterator[int]:
        """Iterate over the ids of the tests that are true of it, ignoring negation."""
        checks = self._checks
        for id in self._plain.slots(text):
            if id not in checks or checks[id](text):
                yield id
        if self._has_folded:
            for id in self._folded.slots(text.lower()):
                if id not in checks or checks[id](text):
                    yield id
        for id in self._unguarded:
            if checks[id](text):
                yield id
        yield from self._regexes.slots(text)


def _check(test: StringTest | Like | RLike) -> Check:
    if isinstance(test, Like):
        return lambda t: like_matches(test.pattern, test.escape, test.ignore_case, t)
    if isinstance(test, RLike):
        return lambda t: regex_matches(test.pattern, t)
    assert isinstance(test.text, Literal) and isinstance(test.text.value, str)
    whole = test.text.value
    if test.function == "contains":
        return lambda t: t in whole
    return whole.startswith if test.function == "startswith" else whole.endswith


class _Regexes:
    """Regular expressions in one automaton.

    RE2 gives up silently when a set needs more memory than it may use, and the result looks like no
    match. So the set also contains an expression that matches everything: if that one is missing
    from the result, every expression is tried on its own.
    """

    def __init__(self, patterns: list[tuple[str, int]]) -> None:
        self._patterns = patterns
        self._set: re2.Set | None = None
        if len(patterns) >= _MIN_FOR_SET:
            options = re2.Options()
            options.log_errors = False
            options.max_mem = _MEMORY
            self._set = re2.Set.SearchSet(options)
            for pattern, _ in patterns:
                self._set.Add(pattern)
            self._all = self._set.Add("")
            try:
                self._set.Compile()
            except re2.error:
                self._set = None

    def slots(self, text: str) -> Iterator[int]:
        """Iterate over the slots of the expressions that match some part of the text."""
        if self._set is not None:
            matched = self._set.Match(text) or ()
            if self._all in matched:
                for i in matched:
                    if i != self._all:
                        yield self._patterns[i][1]
                return
        for pattern, slot in self._patterns:
            if regex_matches(pattern, text):
                yield slot
