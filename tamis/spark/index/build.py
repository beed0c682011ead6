"""Build an index on executors; this module uses Arrow batches and folders, not pyspark.

Every task applies the changes of some ids, in order, and writes a *part*: an index of the added
subscriptions, and the ids of those removed from the previous version. Joining parts parses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from secrets import token_hex

import pyarrow as pa
from pyarrow import feather

from tamis.errors import SelectorError, SubscriptionError, TamisError
from tamis.matcher import Matcher
from tamis.matches import Id
from tamis.spark.index.versions import commit

ADD, REPLACE, REMOVE = "add", "replace", "remove"

INDEX, _REMOVED = "index", "removed.arrow"
# The number of rejected rows per batch.
_AT_ONCE = 4096


def outcome_schema(id_type: pa.DataType) -> pa.Schema:
    """Return the schema of a task's outcome: a row for its part, and one per rejected row."""
    return pa.schema(
        [
            ("part", pa.string()),
            ("added", pa.int64()),
            ("removed", pa.int64()),
            ("id", id_type),
            ("selector", pa.string()),
            ("position", pa.int32()),
            ("reason", pa.string()),
        ]
    )


class IndexPart:
    """The changes of some ids: added subscriptions, and ids removed from the old version.

    Attributes:
        rejected: The rejected rows: id, selector, position of the fault, reason.
    """

    def __init__(self, old: Matcher | None, new: Matcher) -> None:
        """Start without changes to the old version, if there is one."""
        self._old = old
        self._new = new
        self._gone: dict[Id, None] = {}
        self.rejected: list[tuple[Id | None, str | None, int | None, str]] = []

    def __len__(self) -> int:
        """Return the number of added subscriptions."""
        return len(self._new)

    @property
    def removed_ids(self) -> list[Id]:
        """The ids of the old version that were removed or replaced."""
        return list(self._gone)

    def apply(self, change: str | None, id: Id | None, selector: str | None, priority: int) -> None:
        """Apply a change, or reject it."""
        try:
            if id is None:
                raise SubscriptionError("has no id", id)
            if change == ADD:
                self._add(id, selector, priority)
            elif change == REPLACE:
                self._replace(id, selector, priority)
            elif change == REMOVE:
                self._remove(id)
            else:
                raise SubscriptionError(
                    f"a change must be add, replace or remove, not {change!r}", id
                )
        except SelectorError as error:
            hint = f"; {error.hint}" if error.hint else ""
            self.rejected.append((id, selector, error.start, f"{error.reason}{hint}"))
        except TamisError as error:
            self.rejected.append((id, selector, None, str(error)))

    def _is_old(self, id: Id) -> bool:
        return self._old is not None and id in self._old and id not in self._gone

    def _add(self, id: Id, selector: str | None, priority: int) -> None:
        if self._is_old(id):
            raise SubscriptionError("already exists", id)
        if selector is None:
            raise SubscriptionError("has no selector", id)
        self._new.add(id, selector, priority)

    def _replace(self, id: Id, selector: str | None, priority: int) -> None:
        if id in self._new:
            if selector is None:
                raise SubscriptionError("has no selector", id)
            self._new.replace(id, selector, priority)
            return
        if not self._is_old(id):
            raise SubscriptionError("does not exist", id)
        if selector is None:
            raise SubscriptionError("has no selector", id)
        self._new.add(id, selector, priority)  # if this fails, the old one stays
        self._gone[id] = None

    def _remove(self, id: Id) -> None:
        if id in self._new:
            self._new.remove(id)
        elif self._is_old(id):
            self._gone[id] = None
        else:
            raise SubscriptionError("does not exist", id)

    def save(self, folder: Path, id_type: pa.DataType) -> None:
        """Write the part into a folder."""
        folder.mkdir(parents=True)
        if len(self._new):
            self._new.save(folder / INDEX)
        if self._gone:
            ids = pa.table({"id": pa.array(self._gone, id_type)})
            feather.write_feather(ids, folder / _REMOVED)


def build_part(
    batches: Iterable[pa.RecordBatch], part: IndexPart, parts: Path, id_type: pa.DataType
) -> Iterator[pa.RecordBatch]:
    """Apply the changes of one task, write the part, and yield the outcome."""
    for batch in batches:
        apply_changes(batch, part)
    # A task may run twice: only the part that its outcome names counts.
    yield from write_part(part, parts, token_hex(8), id_type)


def apply_changes(batch: pa.RecordBatch, part: IndexPart) -> None:
    """Apply all changes of a batch."""
    names = ("change", "id", "selector", "priority")
    rows = zip(*(batch.column(name).to_pylist() for name in names), strict=True)
    for change, id, selector, priority in rows:
        part.apply(change, id, selector, 0 if priority is None else priority)


def write_part(
    part: IndexPart, parts: Path, name: str, id_type: pa.DataType
) -> Iterator[pa.RecordBatch]:
    """Write a part, and yield its outcome: its size and the rejected rows."""
    if len(part) or part.removed_ids:
        part.save(parts / name, id_type)
        yield _outcome_batch(
            [(name, len(part), len(part.removed_ids), None, None, None, None)], id_type
        )
    for start in range(0, len(part.rejected), _AT_ONCE):
        rejected = part.rejected[start : start + _AT_ONCE]
        yield _outcome_batch([(None, None, None, *row) for row in rejected], id_type)


def _outcome_batch(rows: list[tuple[object, ...]], id_type: pa.DataType) -> pa.RecordBatch:
    schema = outcome_schema(id_type)
    columns = [
        pa.array(list(c), f.type) for c, f in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def join_parts(
    matcher: Matcher, parts: list[Path], index: Path, number: int, sample: pa.Table | None
) -> int:
    """Create a version from the previous one and parts; return its number of subscriptions.

    Args:
        matcher: The previous version, in memory.
        parts: The parts to apply to it.
        index: The index.
        number: The number of the new version.
        sample: Typical events to learn from.
    """
    apply_parts(matcher, parts, sample)
    unfinished = index / "parts" / f"version-{token_hex(8)}"
    matcher.save(unfinished)
    commit(index, unfinished, number)
    return len(matcher)


def apply_parts(matcher: Matcher, parts: list[Path], sample: pa.Table | None) -> None:
    """Apply the changes of parts, and learn from typical events."""
    for part in parts:
        if (part / _REMOVED).exists():
            for id in feather.read_table(part / _REMOVED).column("id").to_pylist():
                matcher.remove(id)
    for part in parts:
        if (part / INDEX).exists():
            matcher.absorb(part / INDEX, distinct=True)
    if sample is not None and sample.num_rows:
        matcher.learn(sample)


def empty_copy(matcher: Matcher) -> Matcher:
    """Return a matcher with the same settings and without subscriptions."""
    return Matcher(matcher.schema, matcher.semantics, functions=matcher.functions)
