"""Many ids in little memory, for as long as they may have to be removed again."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tamis.matches import Id

_PACK = 4096


class PackedIds:
    """A list of ids, packed.

    A million strings take 65 MB, and fragment the memory of Python when they are freed.
    """

    def __init__(self) -> None:
        """Start without ids."""
        self._packs: list[bytes] = []
        self._last: list[Id] = []

    def append(self, id: Id) -> None:
        """Append an id."""
        self._last.append(id)
        if len(self._last) == _PACK:
            self._packs.append(msgspec.msgpack.encode(self._last))
            self._last = []

    def __len__(self) -> int:
        """Return the number of ids."""
        return _PACK * len(self._packs) + len(self._last)

    def __iter__(self) -> Iterator[Id]:
        """Iterate over the ids in order."""
        for pack in self._packs:
            yield from msgspec.msgpack.decode(pack, type=list[Id])
        yield from self._last
