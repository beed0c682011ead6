"""The candidate shards of an event: the forwarding of the Bloom filter paper.

Every shard has a filter of the covers of its subscriptions. A shard with a subscription that has no
cover gets every event.
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
    """The filters of all shards.

    Attributes:
        paths: The attributes in covers.
        blooms: By shard, its filter; None if it gets every event.
    """

    def __init__(self, paths: Iterable[Path], blooms: list[Bloom | None]) -> None:
        """Take the parts as they are."""
        self.paths = frozenset(paths)
        self.blooms = blooms

    def candidate_mask(self, batch: EventBatch) -> npt.NDArray[np.bool_]:
        """Return by shard and event whether the shard is a candidate."""
        mask = np.zeros((len(self.blooms), len(batch)), np.bool_)
        for events, keys in keys_of(batch, self.paths):
            for row, bloom in zip(mask, self.blooms, strict=True):
                if bloom is not None:
                    row[events] |= bloom.may_have(keys)
        for row, bloom in zip(mask, self.blooms, strict=True):
            if bloom is None:
                row[:] = True
        return mask

    def save(self, file: File) -> None:
        """Write the filters into a file."""
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
        """Read the filters from a file."""
        with np.load(file) as content:
            about = msgspec.json.decode(content["about"].tobytes())
            blooms = [
                unpack_bits(content[f"bloom{n}"]) if f"bloom{n}" in content else None
                for n in range(about["places"])
            ]
            return cls([tuple(path) for path in about["paths"]], blooms)
