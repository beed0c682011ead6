"""Compile and change an index in shards on the driver; `shard_files.py` runs on workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from tamis.matcher import Matcher
from tamis.spark.index import shard_files
from tamis.spark.index.compile_job import Compiled, Job, MatcherSpec, VersionBuild, sample_table
from tamis.spark.index.shard_files import KEYS, PATHS, SHARD
from tamis.spark.table_columns import ID_TYPES
from tamis.spark.worker_call import run_on_worker

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def compile_in_shards(job: Job, size: int, sample: DataFrame | None) -> Compiled:
    """Find covers, assign subscriptions to shards by them, and build a part for each shard."""
    work, spec, id_type = job.build, job.spec, ID_TYPES[job.id_type]
    found = _with_covers(job)
    covered, rows = found.selectExpr("count(keys)", "count(*)").collect()[0]
    narrow = -(-covered // size)
    shards = max(1, narrow + -(-(rows - covered) // size))
    numbers = list(range(shards))
    placed = _add_shard(found, _shard_of_cover(numbers[:narrow] or [0], numbers[narrow:] or [0]))
    events = sample_table(sample)

    def build(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from shard_files.build_shard(
            batches, spec.empty_matcher(), work.parts, id_type, events
        )

    named, outcome = job.build_parts(placed.repartitionById(shards, SHARD), build)
    names = [row.part for row in named]
    run_on_worker(job.rows.sparkSession, partial(_assemble_version, work, names, shards, spec))
    return job.finish(work.new, sum(row.added for row in named), named, outcome)


def change_in_shards(job: Job, sample: DataFrame | None) -> Compiled:
    """Change the shards that have changes; the others are reused.

    An existing subscription stays in its shard, whatever its new cover.
    """
    from pyspark.sql import functions as F

    work, spec, now, id_type = job.build, job.spec, job.current, ID_TYPES[job.id_type]
    found = _with_covers(job)
    narrow = [shard for shard in range(now.shards) if shard not in now.wide]
    new = _shard_of_cover(narrow or now.wide, now.wide or narrow[-1:])
    held = _current_shards(found.select("id").distinct(), job).withColumnRenamed(SHARD, "held")
    known = found.join(held, "id", "left")
    placed = _add_shard(known, F.coalesce("held", new)).drop("held")
    events = sample_table(sample)

    def build(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        before = work.old_folder()
        assert before is not None
        yield from shard_files.change_shard(
            batches, before, spec.functions, work.parts, id_type, events
        )

    named, outcome = job.build_parts(placed.repartitionById(now.shards, SHARD), build)
    version, subscriptions = now.version, now.subscriptions
    if named:
        names = [row.part for row in named]
        run_on_worker(
            job.rows.sparkSession, partial(_assemble_version, work, names, now.shards, spec)
        )
        version = work.new
        subscriptions += sum(row.added - row.removed for row in named)
    return job.finish(version, subscriptions, named, outcome)


def _with_covers(job: Job) -> DataFrame:
    """Return the rows with their covers. They are stored, because all selectors are parsed."""
    from pyspark.sql.types import ArrayType, LongType, StringType, StructType

    work, spec = job.build, job.spec

    def cover(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        before = work.old_folder()
        if before is None:
            yield from shard_files.add_covers(batches, spec.empty_matcher())
            return
        with Matcher.open(
            shard_files.index_folders(before)[0], spec.functions, read_only=True
        ) as like:
            yield from shard_files.add_covers(batches, like)

    kept = StructType([*job.rows.schema.fields])
    kept.add(KEYS, ArrayType(LongType())).add(PATHS, ArrayType(StringType()))
    covers = (work.parts / "covers").as_uri()
    job.rows.mapInArrow(cover, kept).write.parquet(covers)
    return job.rows.sparkSession.read.parquet(covers)


def _shard_of_cover(narrow: list[int], wide: list[int]) -> Column:
    """Return the shard by the cover's first key, or by the id for those without a cover."""
    from pyspark.sql import functions as F

    def one_of(shards: list[int], number: Column) -> Column:
        chosen = F.pmod(number, F.lit(len(shards))).cast("int") + 1
        return F.element_at(F.array(*map(F.lit, shards)), chosen)

    by_key = F.when(F.size(KEYS) > 0, one_of(narrow, F.element_at(KEYS, 1)))
    return F.when(F.col(KEYS).isNull(), one_of(wide, F.xxhash64("id"))).otherwise(
        by_key.otherwise(F.lit(narrow[0]))
    )


def _add_shard(rows: DataFrame, shard: Column) -> DataFrame:
    """Put all rows of one id into one shard; otherwise duplicates would go unnoticed."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    return rows.withColumn(SHARD, F.min(shard).over(Window.partitionBy("id")).cast("int"))


def _current_shards(ids: DataFrame, job: Job) -> DataFrame:
    """Return which shard has which of these ids."""
    work, spec, shards = job.build, job.spec, job.current.shards

    def find_ids(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        before = work.old_folder()
        assert before is not None
        yield from shard_files.existing_ids(batches, before, spec.functions)

    numbers = ids.sparkSession.range(shards).selectExpr(f"CAST(id AS INT) AS {SHARD}")
    candidates = ids.crossJoin(numbers).repartitionById(shards, SHARD)
    return candidates.mapInArrow(find_ids, f"id {job.id_type}, {SHARD} int")


def _assemble_version(work: VersionBuild, names: list[str], shards: int, spec: MatcherSpec) -> None:
    parts = {int(name.partition("-")[0]): work.parts / name for name in names}
    shard_files.assemble_version(
        work.index, parts, shards, spec.empty_matcher(), work.new, work.old_folder()
    )
