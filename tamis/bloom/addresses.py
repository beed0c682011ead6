"""Numbers for the addresses in a tree."""

from __future__ import annotations

from collections.abc import Hashable


class Addresses:
    """Addresses under small integers, with reference counts."""

    def __init__(self) -> None:
        """Start without addresses."""
        self._codes: dict[Hashable, int] = {}
        self._addresses: list[Hashable] = []
        self._counts: list[int] = []
        self._free: list[int] = []

    @property
    def capacity(self) -> int:
        """One more than the highest number that was ever in use."""
        return len(self._addresses)

    def __len__(self) -> int:
        """Return the number of distinct addresses."""
        return len(self._codes)

    def __getitem__(self, code: int) -> Hashable:
        """Return the address of a number."""
        return self._addresses[code]

    def find(self, address: Hashable) -> int | None:
        """Return the number of an address; None if it has none."""
        return self._codes.get(address)

    def hold(self, address: Hashable) -> int:
        """Return the number of an address and add a reference."""
        code = self._codes.get(address)
        if code is not None:
            self._counts[code] += 1
            return code
        if self._free:
            code = self._free.pop()
            self._addresses[code], self._counts[code] = address, 1
        else:
            code = len(self._addresses)
            self._addresses.append(address)
            self._counts.append(1)
        self._codes[address] = code
        return code

    def release(self, code: int) -> None:
        """Drop a reference to an address; after the last one, free its number."""
        self._counts[code] -= 1
        if not self._counts[code]:
            del self._codes[self._addresses[code]]
            self._addresses[code] = None
            self._free.append(code)
