"""The job that compiles or changes an index, with or without shards."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from tamis.errors import InputError
from tamis.language.functions import Callables
from tamis.matcher import Matcher
from tamis.schema import SchemaLike
from tamis.spark.index import shard_files
from tamis.spark.index.versions import latest_version, remove_leftovers, resolve
from tamis.spark.worker_call import run_on_worker
from tamis.storage.store.durable_files import remove

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

Build = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

# The number of typical events that an index learns from.
_SAMPLE = 4096

_OUTCOME = (
    "part string, added long, removed long, id {}, selector string, position int, reason string"
)


@dataclass(frozen=True)
class Compiled:
    """The result of `compile` and `change`.

    Attributes:
        version: The newest version of the index.
        subscriptions: The number of its subscriptions.
        added: The number of subscriptions added; a replaced one counts as added and removed.
        removed: The number of subscriptions removed.
        rejected: The number of rejected rows.
        rejects: These rows: id, selector, the position of the fault in it, and the reason.
        seconds: The elapsed time.
    """

    version: int
    subscriptions: int
    added: int
    removed: int
    rejected: int
    rejects: DataFrame
    seconds: float


@dataclass(frozen=True)
class MatcherSpec:
    """The settings of a matcher, which are sent to workers."""

    schema: SchemaLike | None
    semantics: str
    functions: Callables | None

    def empty_matcher(self) -> Matcher:
        """Return a matcher without subscriptions."""
        return Matcher(self.schema, self.semantics, functions=self.functions)


@dataclass(frozen=True)
class VersionBuild:
    """The version that a job builds.

    Attributes:
        index: The index.
        token: A unique name for temporary files.
        old: The version to start from, if any.
        new: The version to create.
    """

    index: Path
    token: str
    old: int | None
    new: int

    @property
    def parts(self) -> Path:
        """The folder for the parts that tasks build."""
        return self.index / "parts" / self.token

    @property
    def outcome(self) -> str:
        """The table of the outcomes of tasks."""
        return (self.index / "rejects" / f"{self.new:08d}-{self.token}").as_uri()

    def old_folder(self) -> Path | None:
        """Return the folder of the version to start from."""
        return None if self.old is None else resolve(self.index, self.old).folder


class IndexState(NamedTuple):
    """The state of the index before a job.

    Attributes:
        version: The newest version; 0 if there is none.
        subscriptions: The number of its subscriptions.
        shards: The number of its shards; 0 if it has none.
        wide: The shards that get every event.
    """

    version: int
    subscriptions: int
    shards: int
    wide: list[int]


@dataclass(frozen=True)
class Job:
    """A job that builds a version. It stays on the driver; workers get `spec` and `build`.

    Attributes:
        rows: The changes.
        ordered: Whether they have a column `at`, their order.
        id_type: The type of ids, by Spark's name.
        spec: The settings of the matcher, if there is no previous version.
        current: The state of the index before.
        build: The version to build.
        started_at: The time of the start.
    """

    rows: DataFrame
    ordered: bool
    id_type: str
    spec: MatcherSpec
    current: IndexState
    build: VersionBuild
    started_at: float

    @classmethod
    def of(
        cls,
        frame: DataFrame,
        index: str | Path,
        spec: MatcherSpec,
        order: str | None,
        from_old: bool,
    ) -> Job:
        """Check the rows and the index, and return the job.

        Raises:
            InputError: A column is missing or of the wrong type, or the index does not fit.
        """
        started = time.perf_counter()
        folder = Path(index).absolute()
        spec.empty_matcher()  # fails early if the schema is invalid
        id_type, rows = _select_columns(frame, order)
        state = run_on_worker(
            frame.sparkSession, partial(_index_state, folder, from_old, id_type, spec.functions)
        )
        now = IndexState(*state)
        old = now.version if from_old else None
        work = VersionBuild(folder, token_hex(8), old, now.version + 1)
        return cls(rows, order is not None, id_type, spec, now, work, started)

    def build_parts(self, rows: DataFrame, build: Build) -> tuple[list[Row], DataFrame]:
        """Build parts, one per task; return their rows, and the stored outcomes of all tasks."""
        if self.ordered:
            rows = rows.sortWithinPartitions("at")
        rows.mapInArrow(build, _OUTCOME.format(self.id_type)).write.parquet(self.build.outcome)
        outcome = rows.sparkSession.read.parquet(self.build.outcome)
        return outcome.where("part IS NOT NULL").collect(), outcome

    def finish(
        self, version: int, subscriptions: int, named: list[Row], outcome: DataFrame
    ) -> Compiled:
        """Remove temporary files, and return the result."""
        run_on_worker(self.rows.sparkSession, partial(_clean_up, self.build))
        rejects = outcome.where("part IS NULL").select("id", "selector", "position", "reason")
        return Compiled(
            version,
            subscriptions,
            sum(row.added for row in named),
            sum(row.removed for row in named),
            rejects.count(),
            rejects,
            time.perf_counter() - self.started_at,
        )


def _select_columns(frame: DataFrame, order: str | None) -> tuple[str, DataFrame]:
    """Return the type of ids, and the required columns, cast to the right types."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import IntegralType, StringType

    types = {field.name: field.dataType for field in frame.schema.fields}
    for name in ("change", "id", "selector", *([order] if order else [])):
        if name not in types:
            raise InputError(f"the table has no column {name!r}; it has {', '.join(types)}")
    if not isinstance(types["id"], StringType | IntegralType):
        raise InputError(f"ids must be text or integers, not {types['id'].simpleString()}")
    if not isinstance(types["selector"], StringType):
        raise InputError(f"selectors must be text, not {types['selector'].simpleString()}")
    id_type = "string" if isinstance(types["id"], StringType) else "bigint"
    priority = F.lit(0).cast("bigint")
    if "priority" in types:
        if not isinstance(types["priority"], IntegralType):
            raise InputError(f"priorities must be integers, not {types['priority'].simpleString()}")
        priority = F.col("priority").cast("bigint")
    columns = [
        F.col("change"),
        F.col("id").cast(id_type).alias("id"),
        F.col("selector"),
        priority.alias("priority"),
    ]
    if order:
        columns.append(F.col(order).alias("at"))
    return id_type, frame.select(*columns)


def _index_state(
    index: Path, from_old: bool, id_type: str, functions: Callables | None
) -> tuple[int, int, int, list[int]]:
    """Return the fields of `IndexState`; runs on a worker, which has access to the folder."""
    if any(index.glob("manifest-*")):
        raise InputError(
            "this is a saved matcher, which has no versions; choose another folder", str(index)
        )
    number = latest_version(index)
    if not (from_old or number):
        return 0, 0, 0, []
    found = resolve(index)
    folders = shard_files.index_folders(found.folder)
    subscriptions = 0
    for folder in folders:
        with Matcher.open(folder, functions, read_only=True) as old:
            first = next(iter(old), None)
            if first is not None and isinstance(first, str) != (id_type == "string"):
                raise InputError(
                    f"its ids are like {first!r}, but those of the table are {id_type}", str(index)
                )
            subscriptions += len(old)
    if not shard_files.is_sharded(found.folder):
        return number, subscriptions, 0, []
    blooms = shard_files.signatures(found.folder).blooms
    wide = [shard for shard, bloom in enumerate(blooms) if bloom is None]
    return number, subscriptions, len(folders), wide


def sample_table(sample: DataFrame | None) -> pa.Table | None:
    """Return a few typical events that an index learns from."""
    return None if sample is None else sample.limit(_SAMPLE).toArrow()


def _clean_up(work: VersionBuild) -> None:
    """Remove temporary files."""
    if work.parts.exists():
        remove(work.parts)
    remove_leftovers(work.index)
