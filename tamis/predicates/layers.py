"""Cheap changes to structures that can only be built as a whole.

Most tests are in a large structure, the base. Tests added since are in a small structure beside it,
which is rebuilt at every change. When the changes amount to a fraction of the base, all tests are
merged into a new base. So the number of times that a test is built into a base is bounded, however
many tests follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

# The base is rebuilt when there are more changes than this plus this fraction of its size.
_MIN_CHANGES = 256
_BASE_FRACTION = 8


class Layer(Protocol):
    """A structure built from tests by id."""

    def without_tests(self, ids: frozenset[int]) -> Layer:
        """Return the structure without some of its tests; cheaper than a rebuild."""


T = TypeVar("T")
B = TypeVar("B", bound=Layer)


class Layers(Generic[T, B]):
    """Tests by predicate id, and the structures that are built from them on demand."""

    def __init__(self, build: Callable[[Mapping[int, T]], B]) -> None:
        """Create empty layers; `build` builds the structure."""
        self._build = build
        self._tests: dict[int, T] = {}
        self._base: B | None = None
        self._base_size = 0
        self._changes = 0
        self._gone: set[int] = set()
        self._fresh: dict[int, T] = {}
        self._fresh_built: B | None = None

    def __len__(self) -> int:
        """Return the number of tests."""
        return len(self._tests)

    def add(self, id: int, test: T) -> None:
        """Add a test under a new id; the id may have been in use before."""
        self._tests[id] = test
        self._fresh[id] = test
        self._fresh_built = None
        self._changes += 1

    def remove(self, id: int) -> None:
        """Remove a test."""
        del self._tests[id]
        if id in self._fresh:
            del self._fresh[id]
            self._fresh_built = None
        else:
            self._gone.add(id)
            self._changes += 1
        if not self._tests:
            self._base = None  # also frees its cache

    def built_layers(self) -> list[B]:
        """Return the structures that together contain each test exactly once."""
        if self._base is None or self._changes > _MIN_CHANGES + self._base_size // _BASE_FRACTION:
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
