"""Arrays of 32-bit numbers that grow at the end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]


class GrowableArray:
    """Numbers, with spare room at the end.

    >>> numbers = GrowableArray([1, 2])
    >>> numbers.extend([3])
    >>> numbers.array.tolist()
    [1, 2, 3]
    """

    def __init__(self, numbers: Sequence[int] | Ints = ()) -> None:
        """Create an array with some numbers."""
        self._room = np.array(numbers, np.int32)
        self._length = len(self._room)

    def __len__(self) -> int:
        """Return how many numbers there are."""
        return self._length

    @property
    def array(self) -> Ints:
        """A writable view of all numbers; valid until the array grows."""
        return self._room[: self._length]

    def extend(self, numbers: Sequence[int] | Ints) -> None:
        """Append numbers."""
        length = self._length + len(numbers)
        if length > len(self._room):
            room = np.empty(max(length, 2 * len(self._room), 16), np.int32)
            room[: self._length] = self.array
            self._room = room
        self._room[self._length : length] = numbers
        self._length = length

    def put(self, place: int, number: int, rest: int) -> None:
        """Set a number, possibly beyond the end; `rest` fills the gap."""
        if place >= self._length:
            self.extend([rest] * (place + 1 - self._length))
        self._room[place] = number
