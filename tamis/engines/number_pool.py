"""A pool of small numbers for objects such as functions and terms; free numbers are reused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Number:
    """A number, and how many nodes use it."""

    number: int
    uses: int = 0


class NumberPool(Generic[T]):
    """A number for every object that some node uses.

    >>> letters = NumberPool(first=16)
    >>> letters.number("a"), letters.number("b"), letters.number("a")
    (16, 17, 16)
    >>> letters.add_use("a")
    >>> letters.drop_use("a")
    >>> letters.number("c")
    16

    Attributes:
        entries: The numbers in use, by object.
    """

    def __init__(self, first: int = 0) -> None:
        """Create an empty pool whose lowest number is `first`."""
        self.entries: dict[T, Number] = {}
        self._first = first
        self._free: list[int] = []

    @property
    def next(self) -> int:
        """The number that the next object gets."""
        return self._free[-1] if self._free else self._first + len(self.entries)

    @property
    def capacity(self) -> int:
        """One more than the highest number that was ever in use."""
        return self._first + len(self.entries) + len(self._free)

    def number(self, thing: T) -> int:
        """Return the number of an object; assign one if it has none."""
        entry = self.entries.get(thing)
        if entry is None:
            entry = self.entries[thing] = Number(self.next)
            if self._free:
                self._free.pop()
        return entry.number

    def add_use(self, thing: T) -> None:
        """Count one more node that uses an object."""
        self.entries[thing].uses += 1

    def drop_use(self, thing: T) -> None:
        """Count one node less, and free the number after the last one."""
        self.entries[thing].uses -= 1
        self.give_back(thing)

    def give_back(self, thing: T) -> None:
        """Free the number of an object if no node uses it."""
        if not self.entries[thing].uses:
            self._free.append(self.entries.pop(thing).number)
