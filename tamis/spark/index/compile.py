"""Compile a table of subscriptions into an index; executors parse, type-check and build it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from tamis.errors import InputError
from tamis.language.functions import Callables
from tamis.matcher import Matcher
from tamis.schema import SchemaLike
from tamis.spark.index.build import ADD, IndexPart, build_part, empty_copy, join_parts
from tamis.spark.index.compile_job import Compiled, Job, MatcherSpec, VersionBuild, sample_table
from tamis.spark.index.shard_jobs import change_in_shards, compile_in_shards
from tamis.spark.table_columns import ID_TYPES
from tamis.spark.worker_call import run_on_worker

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The number of subscriptions in a part: enough to be worth a task, and few enough to distribute.
_PART = 1 << 16
# The most subscriptions of an index that every worker opens as a whole: a mapped gigabyte.
MOST_REPLICATED = 5_000_000
SHARD_SIZE = 2_500_000


def compile(
    subscriptions: DataFrame,
    index: str | Path,
    *,
    schema: SchemaLike | None = None,
    semantics: str = "sql",
    functions: Callables | None = None,
    sample: DataFrame | None = None,
    parts: int | None = None,
    placement: str = "auto",
    shard_size: int = SHARD_SIZE,
) -> Compiled:
    """Compile a table of subscriptions into a new version of an index.

    Bad rows are rejected with their position and reason, and the others are compiled. A version is
    created atomically; previous versions stay.

    Args:
        subscriptions: A table with the columns `id` (text or integers), `selector` and,
            optionally, `priority`.
        index: The folder, which must have this path on all workers.
        schema: The attributes of events, as for `tamis.Matcher`.
        semantics: What a missing attribute means.
        functions: User-defined functions that selectors may call.
        sample: Typical events for the index to learn from; a few thousand are used.
        parts: The number of parts to build in parallel; by default one for every 65,536 rows.
        placement: "replicate": every worker opens the whole index. "shard": the index is split
            into shards, and events are routed to those that may match. "auto": shards if the index
            is too large to replicate.
        shard_size: The approximate number of subscriptions in a shard.

    Raises:
        InputError: A column is missing or of the wrong type, or the placement is unknown.
    """
    from pyspark.sql import functions as F

    if placement not in ("auto", "replicate", "shard"):
        raise InputError(f"placement must be 'auto', 'replicate' or 'shard', not {placement!r}")
    frame = subscriptions.withColumn("change", F.lit(ADD))
    job = Job.of(frame, index, MatcherSpec(schema, semantics, functions), None, from_old=False)
    if placement == "shard" or (placement == "auto" and subscriptions.count() > MOST_REPLICATED):
        return compile_in_shards(job, shard_size, sample)
    return _build_replicated(job, sample, parts)


def change(
    changes: DataFrame,
    index: str | Path,
    *,
    functions: Callables | None = None,
    order: str | None = None,
    sample: DataFrame | None = None,
    parts: int | None = None,
) -> Compiled:
    """Create the next version of an index from the newest one and a table of changes.

    Args:
        changes: A table with the columns `change` (`add`, `replace` or `remove`), `id`,
            `selector` and, optionally, `priority`. Changes that cannot be applied (adding an id
            that exists, removing one that does not) are rejected.
        index: The folder that `compile` created.
        functions: The functions that selectors call.
        order: The column that orders the changes of one id; required if an id has several.
        sample: Typical events for the index to learn from.
        parts: The number of parts to build in parallel; by default one for every 65,536 rows.

    Raises:
        InputError: A column is missing or of the wrong type, or there is no index.
    """
    job = Job.of(changes, index, MatcherSpec(None, "sql", functions), order, from_old=True)
    if job.current.shards:
        return change_in_shards(job, sample)
    return _build_replicated(job, sample, parts)


def _build_replicated(job: Job, sample: DataFrame | None, parts: int | None) -> Compiled:
    """Build parts by id, and join them on one worker."""
    spark = job.rows.sparkSession
    work, spec, id_type = job.build, job.spec, ID_TYPES[job.id_type]

    def build(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        folder = work.old_folder()
        old = None if folder is None else Matcher.open(folder, spec.functions, read_only=True)
        part = IndexPart(old, spec.empty_matcher() if old is None else empty_copy(old))
        yield from build_part(batches, part, work.parts, id_type)

    if parts is None:
        parts = max(1, -(-job.rows.count() // _PART))
    # All changes of one id must be in one part.
    named, outcome = job.build_parts(job.rows.repartition(parts, "id"), build)
    version, subscriptions = job.current.version, job.current.subscriptions
    if named or work.old is None:
        names = [row.part for row in named]
        subscriptions = run_on_worker(
            spark, partial(_join_parts, work, names, spec, sample_table(sample))
        )
        version = work.new
    return job.finish(version, subscriptions, named, outcome)


def _join_parts(
    work: VersionBuild, names: list[str], spec: MatcherSpec, sample: pa.Table | None
) -> int:
    before = work.old_folder()
    matcher = spec.empty_matcher() if before is None else Matcher.load(before, spec.functions)
    parts = [work.parts / name for name in names]
    return join_parts(matcher, parts, work.index, work.new, sample)
