"""An index in shards, for more subscriptions than a worker can hold.

A subscription belongs to the shard of its cover (`shard_covers.py`), and a Bloom filter of all
covers of a shard decides which events it gets. Subscriptions without a cover are in shards of their
own, which get every event. This module uses Arrow batches and folders, not pyspark.

    v00000001/
      signatures.npz
      shard-0000/    what `Matcher.save` writes
      shard-0001/
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.engines.subscription import Subscription
from tamis.errors import TamisError
from tamis.language.expr import Sequence
from tamis.language.functions import Callables
from tamis.matcher import Matcher
from tamis.spark.index.build import (
    INDEX,
    IndexPart,
    apply_changes,
    apply_parts,
    empty_copy,
    write_part,
)
from tamis.spark.index.shard_covers import cover_of
from tamis.spark.index.shard_filter import bloom_of, extend_bloom
from tamis.spark.index.shard_keys import key_of
from tamis.spark.index.signatures import Signatures
from tamis.spark.index.versions import commit
from tamis.storage.store.durable_files import remove

if TYPE_CHECKING:
    from tamis.bloom.filter import Bloom

# Columns of a subscription: the keys of its cover, null if it has none, and their attributes.
KEYS, PATHS, SHARD = "keys", "paths", "tamis_shard"

_SIGNATURES, _SHARD_FOLDER = "signatures.npz", "shard-"
_NO_KEYS = np.zeros(0, np.uint64)


def is_sharded(folder: Path) -> bool:
    """Return whether a version is in shards."""
    return (folder / _SIGNATURES).exists()


def shard_folder(folder: Path, shard: int) -> Path:
    """Return the folder of a shard."""
    return folder / f"{_SHARD_FOLDER}{shard:04d}"


def index_folders(version: Path) -> list[Path]:
    """Return the folders of a version: those of its shards, or its own."""
    return sorted(version.glob(f"{_SHARD_FOLDER}*")) if is_sharded(version) else [version]


def signatures(folder: Path) -> Signatures:
    """Return the filters of a version."""
    return Signatures.open(folder / _SIGNATURES)


def add_covers(batches: Iterable[pa.RecordBatch], like: Matcher) -> Iterator[pa.RecordBatch]:
    """Add the cover of each selector; it is empty for a bad one, which is rejected later."""
    for batch in batches:
        keys: list[list[int] | None] = []
        paths: list[list[str]] = []
        for text in batch.column("selector").to_pylist():
            found = _cover(text, like)
            keys.append(None if found is None else [_signed_key(key) for key, _ in found])
            paths.append([] if found is None else sorted({path for _, path in found}))
        yield batch.append_column(KEYS, pa.array(keys, pa.list_(pa.int64()))).append_column(
            PATHS, pa.array(paths, pa.list_(pa.string()))
        )


def _cover(text: str | None, like: Matcher) -> list[tuple[int, str]] | None:
    """Return the keys and attributes of a cover, sorted: the first key decides the shard."""
    if text is None:
        return []
    try:
        subscription = Subscription.of(0, text, 0, like.schema, like.semantics, like.functions)
    except TamisError:
        return []
    condition = subscription.condition
    if isinstance(condition, Sequence):
        return []
    cover = cover_of(condition)
    if cover is None:
        return None
    pairs = sorted((key_of(path, value), path) for path, value in cover)
    return [(key, msgspec.json.encode(path).decode()) for key, path in pairs]


def _signed_key(key: int) -> int:
    """Return the key as a signed integer: Spark has no unsigned ones."""
    return key - (1 << 64) if key >> 63 else key


class _Shard:
    """Collects the keys and attributes of the rows of one shard.

    Attributes:
        number: The number of the shard; None before the first row.
    """

    def __init__(self) -> None:
        """Start without rows."""
        self.number: int | None = None
        self._paths: set[str] = set()
        self._keys: list[np.ndarray] = []
        self._narrow = True

    def rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the same batches, and collect their keys."""
        for batch in batches:
            if not batch.num_rows:
                continue
            self.number = batch.column(SHARD)[0].as_py()
            self._narrow &= not batch.column(KEYS).null_count
            self._keys.append(batch.column(KEYS).flatten().to_numpy(zero_copy_only=False))
            self._paths.update(batch.column(PATHS).flatten().to_pylist())
            yield batch

    def signatures(self, before: Bloom | None) -> Signatures:
        """Return the filter of the shard, extending the previous one."""
        bloom = None
        if before is not None and self._narrow:
            bloom = extend_bloom(before, np.unique(np.concatenate(self._keys)).view(np.uint64))
        return Signatures([tuple(msgspec.json.decode(path)) for path in self._paths], [bloom])


def build_shard(
    batches: Iterable[pa.RecordBatch],
    empty: Matcher,
    parts: Path,
    id_type: pa.DataType,
    sample: pa.Table | None,
) -> Iterator[pa.RecordBatch]:
    """Build one shard and its filter, and yield the outcome."""
    shard = _Shard()
    part = IndexPart(None, empty)
    for batch in shard.rows(batches):
        apply_changes(batch, part)
    if shard.number is None:
        return
    if sample is not None and sample.num_rows:
        empty.learn(sample)
    name = _part_name(shard.number)
    yield from write_part(part, parts, name, id_type)
    if (parts / name).exists():
        shard.signatures(bloom_of(_NO_KEYS)).save(parts / name / _SIGNATURES)


def change_shard(
    batches: Iterable[pa.RecordBatch],
    before: Path,
    functions: Callables | None,
    parts: Path,
    id_type: pa.DataType,
    sample: pa.Table | None,
) -> Iterator[pa.RecordBatch]:
    """Build one shard from its previous version and its changes, and yield the outcome.

    Keys of removed subscriptions stay in its filter.
    """
    shard = _Shard()
    part: IndexPart | None = None
    for batch in shard.rows(batches):
        if part is None:
            assert shard.number is not None
            folder = shard_folder(before, shard.number)
            old = Matcher.open(folder, functions, read_only=True)
            part = IndexPart(old, empty_copy(old))
        apply_changes(batch, part)
    if part is None or shard.number is None:
        return
    name = _part_name(shard.number)
    yield from write_part(part, parts, name, id_type)
    if (parts / name).exists():
        matcher = Matcher.load(folder, functions)
        apply_parts(matcher, [parts / name], sample)
        if (parts / name / INDEX).exists():
            remove(parts / name / INDEX)
        matcher.save(parts / name / INDEX)
        found = shard.signatures(signatures(before).blooms[shard.number])
        found.save(parts / name / _SIGNATURES)


def _part_name(shard: int) -> str:
    """Return a unique name: a task may run twice, and only the part in its outcome counts."""
    return f"{shard:04d}-{token_hex(8)}"


def existing_ids(
    batches: Iterable[pa.RecordBatch], version: Path, functions: Callables | None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of ids and shards whose shard has the id."""
    for batch in batches:
        for folder, part in split_by_shard(batch, version):
            with Matcher.open(folder, functions, read_only=True) as matcher:
                ids = part.column("id").to_pylist()
                there = pa.array([id is not None and id in matcher for id in ids])
            number = int(folder.name.removeprefix(_SHARD_FOLDER))
            numbers = pa.repeat(pa.scalar(number, pa.int32()), part.num_rows)
            yield part.append_column(SHARD, numbers).filter(there)


def assemble_version(
    index: Path,
    parts: Mapping[int, Path],
    shards: int,
    empty: Matcher,
    number: int,
    before: Path | None,
) -> None:
    """Create a version from shards that were built; the others are as before, or empty."""
    unfinished = index / "parts" / f"version-{token_hex(8)}"
    unfinished.mkdir(parents=True)
    old = None if before is None else signatures(before)
    paths = set() if old is None else set(old.paths)
    blooms: list[Bloom | None] = []
    for shard in range(shards):
        folder = shard_folder(unfinished, shard)
        if shard in parts:
            found = Signatures.open(parts[shard] / _SIGNATURES)
            paths |= found.paths
            blooms += found.blooms
            (parts[shard] / INDEX).rename(folder)
        elif before is not None and old is not None:
            blooms.append(old.blooms[shard])
            # Files of a version never change, so two versions can share them.
            shutil.copytree(shard_folder(before, shard), folder, copy_function=os.link)
        else:
            blooms.append(bloom_of(_NO_KEYS))
            empty.save(folder)
    Signatures(paths, blooms).save(unfinished / _SIGNATURES)
    commit(index, unfinished, number)


def split_by_shard(batch: pa.RecordBatch, folder: Path) -> Iterator[tuple[Path, pa.RecordBatch]]:
    """Yield the events of a partition by the folder of their shard.

    Usually there is one; more if a later version has more shards than the stream started with.
    """
    shards = batch.column(SHARD)
    rest = batch.drop_columns([SHARD])
    for shard in shards.unique().to_pylist():
        yield shard_folder(folder, shard), rest.filter(pc.equal(shards, shard))
