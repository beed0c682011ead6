"""What compiling and changing an index share, whether it is in one piece or in shards."""

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

# Typical events that are kept for an index to be laid out by.
_SAMPLE = 4096

_OUTCOME = (
    "part string, added long, removed long, id {}, selector string, position int, reason string"
)


@dataclass(frozen=True)
class Compiled:
    """What came of it.

    Attributes:
        version: The version that the index has now.
        subscriptions: How many there are in it.
        added, removed: What changed; a replaced one counts in both.
        rejected: How many rows were not taken.
        rejects: These rows: id, selector, the position of the fault in it, and the reason.
        seconds: How long it took.
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
    """How a matcher is made, as it travels to workers."""

    schema: SchemaLike | None
    semantics: str
    functions: Callables | None

    def empty_matcher(self) -> Matcher:
        """One without subscriptions."""
        return Matcher(self.schema, self.semantics, functions=self.functions)


@dataclass(frozen=True)
class VersionBuild:
    """What is being made.

    Attributes:
        index: The index.
        token: A name for what is written on the way.
        old: The version to begin with, if any.
        new: The version to be.
    """

    index: Path
    token: str
    old: int | None
    new: int

    @property
    def parts(self) -> Path:
        """Where tasks put what they build."""
        return self.index / "parts" / self.token

    @property
    def outcome(self) -> str:
        """Where what tasks say is kept."""
        return (self.index / "rejects" / f"{self.new:08d}-{self.token}").as_uri()

    def old_folder(self) -> Path | None:
        """Where the version to begin with is."""
        return None if self.old is None else resolve(self.index, self.old).folder


class IndexState(NamedTuple):
    """What there is before.

    Attributes:
        version: The newest version; 0 if there is none.
        subscriptions: How many it has.
        shards: How many shards it is in; 0 if it is in one piece.
        wide: Those of them that are shown every event.
    """

    version: int
    subscriptions: int
    shards: int
    wide: list[int]


@dataclass(frozen=True)
class Job:
    """The making of a version. It stays on the driver; what workers need of it is named apart.

    Attributes:
        rows: The changes.
        ordered: Whether they have a column `at`, their order.
        id_type: What ids are, by Spark's name.
        spec: How a matcher is made, if there is no version before.
        current: What there is before.
        build: What is being made.
        started_at: When.
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
        made: MatcherSpec,
        order: str | None,
        from_old: bool,
    ) -> Job:
        """See that rows and index are what they must be.

        Raises:
            InputError: They are not.
        """
        begun = time.perf_counter()
        folder = Path(index).absolute()
        made.empty_matcher()  # what is wrong with the schema is said at once
        id_type, rows = _select_columns(frame, order)
        said = run_on_worker(
            frame.sparkSession, partial(_index_state, folder, from_old, id_type, made.functions)
        )
        now = IndexState(*said)
        old = now.version if from_old else None
        work = VersionBuild(folder, token_hex(8), old, now.version + 1)
        return cls(rows, order is not None, id_type, made, now, work, begun)

    def build_parts(self, rows: DataFrame, build: Build) -> tuple[list[Row], DataFrame]:
        """Have parts built, a task each: their rows, and all that was said, which is kept."""
        if self.ordered:
            rows = rows.sortWithinPartitions("at")
        rows.mapInArrow(build, _OUTCOME.format(self.id_type)).write.parquet(self.build.outcome)
        outcome = rows.sparkSession.read.parquet(self.build.outcome)
        return outcome.where("part IS NOT NULL").collect(), outcome

    def finish(
        self, version: int, subscriptions: int, named: list[Row], outcome: DataFrame
    ) -> Compiled:
        """Clean up, and say what came of it."""
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
    """The type of the ids, and the columns that are needed, each of the right type."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import IntegralType, StringType

    types = {field.name: field.dataType for field in frame.schema.fields}
    for name in ("change", "id", "selector", *([order] if order else [])):
        if name not in types:
            raise InputError(f"the table has no column {name!r}; it has {', '.join(types)}")
    if not isinstance(types["id"], StringType | IntegralType):
        raise InputError(f"ids are text or integers, not {types['id'].simpleString()}")
    if not isinstance(types["selector"], StringType):
        raise InputError(f"selectors are text, not {types['selector'].simpleString()}")
    id_type = "string" if isinstance(types["id"], StringType) else "bigint"
    priority = F.lit(0).cast("bigint")
    if "priority" in types:
        if not isinstance(types["priority"], IntegralType):
            raise InputError(f"priorities are integers, not {types['priority'].simpleString()}")
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
    """What `Now` says; for a worker to say, who sees the folder."""
    if any(index.glob("manifest-*")):
        raise InputError("a matcher was saved here; it has no versions", str(index))
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
                raise InputError(f"its ids are like {first!r}; these are {id_type}", str(index))
            subscriptions += len(old)
    if not shard_files.is_sharded(found.folder):
        return number, subscriptions, 0, []
    blooms = shard_files.signatures(found.folder).blooms
    wide = [shard for shard, bloom in enumerate(blooms) if bloom is None]
    return number, subscriptions, len(folders), wide


def sample_table(sample: DataFrame | None) -> pa.Table | None:
    """A few typical events, for an index to be laid out by."""
    return None if sample is None else sample.limit(_SAMPLE).toArrow()


def _clean_up(work: VersionBuild) -> None:
    """Remove what was written on the way."""
    if work.parts.exists():
        remove(work.parts)
    remove_leftovers(work.index)
