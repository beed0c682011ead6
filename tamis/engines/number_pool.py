"""Small numbers for things, such as functions and terms, given again when free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Number:
    """A number, and how many nodes have it."""

    number: int
    uses: int = 0


class NumberPool(Generic[T]):
    """A number for everything that some node has.

    >>> letters = Numbers(first=16)
    >>> letters.number("a"), letters.number("b"), letters.number("a")
    (16, 17, 16)
    >>> letters.used("a")
    >>> letters.unused("a")
    >>> letters.number("c")
    16

    Attributes:
        given: By thing.
    """

    def __init__(self, first: int = 0) -> None:
        """Begin with the first number."""
        self.given: dict[T, Number] = {}
        self._first = first
        self._free: list[int] = []

    @property
    def next(self) -> int:
        """The number that the next thing gets."""
        return self._free[-1] if self._free else self._first + len(self.given)

    @property
    def capacity(self) -> int:
        """One more than the highest number that was ever given."""
        return self._first + len(self.given) + len(self._free)

    def number(self, thing: T) -> int:
        """The number of a thing, a new one if it has none."""
        found = self.given.get(thing)
        if found is None:
            found = self.given[thing] = Number(self.next)
            if self._free:
                self._free.pop()
        return found.number

    def add_use(self, thing: T) -> None:
        """Count one more node that has a thing."""
        self.given[thing].uses += 1

    def drop_use(self, thing: T) -> None:
        """Count one node less."""
        self.given[thing].uses -= 1
        self.give_back(thing)

    def give_back(self, thing: T) -> None:
        """Forget a thing, if no node has it."""
        if not self.given[thing].uses:
            self._free.append(self.given.pop(thing).number)
