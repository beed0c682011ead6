"""An index in shards: for more subscriptions than a worker may hold.

A subscription goes to the shard of its cover (`routing/covers.py`), and a Bloom filter of all the
covers of a shard decides which events it is shown. Subscriptions without a cover are in shards of
their own, which see everything. No pyspark here, only Arrow batches and folders.

    v00000001/
      signatures.npz
      shard-0000/    what `Matcher.save` writes
      shard-0001/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from secrets import token_hex

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.bloom.filter import Bloom
from tamis.engines.subscription import Subscription
from tamis.errors import TamisError
from tamis.events import EventBatch
from tamis.language.expr import Sequence
from tamis.matcher import Matcher
from tamis.paths import Path as Attribute
from tamis.routing.bloom import bloom_of
from tamis.routing.covers import cover_of
from tamis.routing.keys import key_of
from tamis.routing.signatures import Signatures
from tamis.spark.batches import halves, readable, visible
from tamis.spark.building import INDEX, Part, take_all, told
from tamis.spark.versions import commit

# Added to a row of subscriptions: its cover as keys, null if there is none, and their attributes.
KEYS, PATHS, SHARD = "keys", "paths", "shard"

_SIGNATURES = "signatures.npz"


def is_sharded(folder: Path) -> bool:
    """Whether a version is in shards."""
    return (folder / _SIGNATURES).exists()


def shard_folder(folder: Path, shard: int) -> Path:
    """Where a shard of a version is."""
    return folder / f"shard-{shard:04d}"


def signatures(folder: Path) -> Signatures:
    """The filters of a version."""
    return Signatures.open(folder / _SIGNATURES)


def covered(batches: Iterable[pa.RecordBatch], like: Matcher) -> Iterator[pa.RecordBatch]:
    """Add the cover of each selector. A bad selector has an empty one: it is rejected later."""
    for batch in batches:
        keys: list[list[int] | None] = []
        paths: list[list[str]] = []
        for text in batch.column("selector").to_pylist():
            found = _cover(text, like)
            keys.append(None if found is None else [_signed(key) for key, _ in found])
            paths.append([] if found is None else sorted({path for _, path in found}))
        yield batch.append_column(KEYS, pa.array(keys, pa.list_(pa.int64()))).append_column(
            PATHS, pa.array(paths, pa.list_(pa.string()))
        )


def _cover(text: str | None, like: Matcher) -> list[tuple[int, str]] | None:
    """The keys and attributes of a selector's cover, the same shard's key first."""
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


def _signed(key: int) -> int:
    """As Spark has no unsigned integers."""
    return key - (1 << 64) if key >> 63 else key


def built(
    batches: Iterable[pa.RecordBatch], part: Part, parts: Path, id_type: pa.DataType
) -> Iterator[pa.RecordBatch]:
    """Build one shard, with its filter, and say what happened."""
    shard: int | None = None
    paths: set[str] = set()
    keys: list[np.ndarray] = []
    narrow = True
    for batch in batches:
        if not batch.num_rows:
            continue
        shard = batch.column(SHARD)[0].as_py()
        take_all(batch, part)
        narrow &= not batch.column(KEYS).null_count
        keys.append(batch.column(KEYS).flatten().to_numpy(zero_copy_only=False))
        paths.update(batch.column(PATHS).flatten().to_pylist())
    if shard is None:
        return
    name = f"{shard:04d}-{token_hex(8)}"
    yield from told(part, parts, name, id_type)
    if (parts / name).exists():
        bloom = bloom_of(np.unique(np.concatenate(keys)).view(np.uint64)) if narrow else None
        found = [tuple(msgspec.json.decode(path)) for path in paths]
        Signatures(found, [bloom]).save(parts / name / _SIGNATURES)


def put_together(
    index: Path, parts: Mapping[int, Path], shards: int, like: Matcher, number: int
) -> None:
    """Make a version of shards that have been built; a shard without a part is empty."""
    unfinished = index / "parts" / f"version-{token_hex(8)}"
    unfinished.mkdir(parents=True)
    paths: set[Attribute] = set()
    blooms: list[Bloom | None] = []
    for shard in range(shards):
        folder = shard_folder(unfinished, shard)
        if shard in parts:
            found = Signatures.open(parts[shard] / _SIGNATURES)
            paths |= found.paths
            blooms += found.blooms
            (parts[shard] / INDEX).rename(folder)
        else:
            blooms.append(bloom_of(np.zeros(0, np.uint64)))
            like.save(folder)
    Signatures(paths, blooms).save(unfinished / _SIGNATURES)
    commit(index, unfinished, number)


def routed(
    batches: Iterable[pa.RecordBatch],
    routes: Signatures,
    like: Matcher,
    hidden: frozenset[str],
    corrupt: str | None,
) -> Iterator[pa.RecordBatch]:
    """The events once for every shard that must see them, with its number.

    An event that cannot be read or judged goes to the first shard, which says so, once.
    """
    for batch in batches:
        batch, unread = readable(batch, corrupt)
        if unread.num_rows:
            yield _to_first(unread)
        yield from _sent(batch, routes, like, hidden)


def _sent(
    batch: pa.RecordBatch, routes: Signatures, like: Matcher, hidden: frozenset[str]
) -> Iterator[pa.RecordBatch]:
    try:
        events = EventBatch.of(visible(batch, hidden), like.schema, like.semantics)
    except TamisError:
        if batch.num_rows == 1:
            yield _to_first(batch)
            return
        for half in halves(batch):
            yield from _sent(half, routes, like, hidden)
        return
    shard, event = np.nonzero(routes.wanted(events))
    yield batch.take(pa.array(event)).append_column(SHARD, pa.array(shard.astype(np.int32)))


def _to_first(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.append_column(SHARD, pa.array(np.zeros(batch.num_rows, np.int32)))


def by_shard(batch: pa.RecordBatch, folder: Path) -> Iterator[tuple[Path, pa.RecordBatch]]:
    """The events of a partition by the folder of their shard.

    Mostly there is one; more if a later version has more shards than the stream began with.
    """
    shards = batch.column(SHARD)
    rest = batch.drop_columns([SHARD])
    for shard in shards.unique().to_pylist():
        yield shard_folder(folder, shard), rest.filter(pc.equal(shards, shard))
