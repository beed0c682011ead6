"""Cheap changes to structures that are only ever built whole.

Most tests sit in a large structure, the base; what came since sits in a small one beside it, which
is built again at every change. When the changes amount to a part of the base, all become one base
again: so a test is built into a base only so many times, however many come after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

# The base is built again when changes are more than this, and more than this part of it.
_FEW = 256
_PART = 8


class Layer(Protocol):
    """A structure built from tests by id."""

    def without_tests(self, ids: frozenset[int]) -> Layer:
        """The same structure with some of its tests gone, cheaper than by building it again."""


T = TypeVar("T")
B = TypeVar("B", bound=Layer)


class Layers(Generic[T, B]):
    """Tests by predicate id, and what is built from them when it is asked for."""

    def __init__(self, build: Callable[[Mapping[int, T]], B]) -> None:
        """Begin with no tests; `build` makes the structure."""
        self._build = build
        self._tests: dict[int, T] = {}
        self._base: B | None = None
        self._base_size = 0
        self._changes = 0
        self._gone: set[int] = set()
        self._fresh: dict[int, T] = {}
        self._fresh_built: B | None = None

    def __len__(self) -> int:
        """The number of tests."""
        return len(self._tests)

    def add(self, id: int, test: T) -> None:
        """Take a test under a new id; the id may have been in use before."""
        self._tests[id] = test
        self._fresh[id] = test
        self._fresh_built = None
        self._changes += 1

    def remove(self, id: int) -> None:
        """Forget a test."""
        del self._tests[id]
        if id in self._fresh:
            del self._fresh[id]
            self._fresh_built = None
        else:
            self._gone.add(id)
            self._changes += 1
        if not self._tests:
            self._base = None  # and with it what it remembers

    def built_layers(self) -> list[B]:
        """The structures that together hold all tests, each test in one of them."""
        if self._base is None or self._changes > _FEW + self._base_size // _PART:
            self._base, self._base_size = self._build(self._tests), len(self._tests)
            self._changes = 0
            self._gone, self._fresh, self._fresh_built = set(), {}, None
        if self._gone:
            self._base = self._base.without_tests(frozenset(self._gone))  # type: ignore[assignment]
            self._gone = set()
        assert self._base is not None
        if not self._fresh:
            return [self._base]
        if self._fresh_built is None:
            self._fresh_built = self._build(self._fresh)
        return [self._base, self._fresh_built]
