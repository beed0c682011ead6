"""Which of several places an event must be shown to: the forwarding of the Bloom filter paper.

Every place has a filter of the covers of its subscriptions. A place with a subscription that has no
cover is shown everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path as File
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import numpy.typing as npt

from tamis.events.batch import EventBatch
from tamis.paths import Path
from tamis.spark.index.shard_filter import pack_bits, unpack_bits
from tamis.spark.index.shard_keys import keys_of

if TYPE_CHECKING:
    from tamis.bloom.filter import Bloom


class Signatures:
    """The filters of all places.

    Attributes:
        paths: The attributes that some cover is about.
        blooms: By place, its filter; None if it must be shown everything.
    """

    def __init__(self, paths: Iterable[Path], blooms: list[Bloom | None]) -> None:
        """Take the parts as they are."""
        self.paths = frozenset(paths)
        self.blooms = blooms

    def candidate_mask(self, batch: EventBatch) -> npt.NDArray[np.bool_]:
        """By place and event, whether it must be shown the event."""
        found = np.zeros((len(self.blooms), len(batch)), np.bool_)
        for events, keys in keys_of(batch, self.paths):
            for row, bloom in zip(found, self.blooms, strict=True):
                if bloom is not None:
                    row[events] |= bloom.may_have(keys)
        for row, bloom in zip(found, self.blooms, strict=True):
            if bloom is None:
                row[:] = True
        return found

    def save(self, file: File) -> None:
        """Write them into a file."""
        arrays = {
            f"bloom{n}": pack_bits(bloom)
            for n, bloom in enumerate(self.blooms)
            if bloom is not None
        }
        about = {"places": len(self.blooms), "paths": sorted(self.paths)}
        text = np.frombuffer(msgspec.json.encode(about), np.uint8)
        with file.open("wb") as out:
            np.savez(out, allow_pickle=False, about=text, **arrays)

    @classmethod
    def open(cls, file: File) -> Signatures:
        """Read them from a file."""
        with np.load(file) as found:
            about = msgspec.json.decode(found["about"].tobytes())
            blooms = [
                unpack_bits(found[f"bloom{n}"]) if f"bloom{n}" in found else None
                for n in range(about["places"])
            ]
            return cls([tuple(path) for path in about["paths"]], blooms)
