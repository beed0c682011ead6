"""Many ids in little room, for as long as they may have to be removed again."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tamis.matches import Id

_PACK = 4096


class PackedIds:
    """Ids in the order in which they came.

    A million strings take 65 MB, and leave holes in the memory of Python when they go.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._packs: list[bytes] = []
        self._last: list[Id] = []

    def append(self, id: Id) -> None:
        """Take one more."""
        self._last.append(id)
        if len(self._last) == _PACK:
            self._packs.append(msgspec.msgpack.encode(self._last))
            self._last = []

    def __len__(self) -> int:
        """How many there are."""
        return _PACK * len(self._packs) + len(self._last)

    def __iter__(self) -> Iterator[Id]:
        """All of them."""
        for pack in self._packs:
            yield from msgspec.msgpack.decode(pack, type=list[Id])
        yield from self._last
