"""Writers for the output of `tamis match`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import typer

from tamis.cli.shared import console
from tamis.cli.shared.count_output import CountAnswers
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.events.batch import EventBatch
    from tamis.matcher import Matcher
    from tamis.matches import Matches


class MatchFormat(StrEnum):
    """How to write matches."""

    table = "table"
    jsonl = "jsonl"
    parquet = "parquet"
    counts = "counts"


class Answers(Protocol):
    """A writer of matches, batch by batch."""

    on_terminal: bool

    def write(self, numbers: list[int], batch: EventBatch, matches: Matches) -> None:
        """Write the matches of a batch; `numbers` are the numbers of its events."""


@contextmanager
def open_answers(
    format: MatchFormat | None, out: str | None, matcher: Matcher
) -> Iterator[Answers]:
    """Open the writer for a format; an output file appears only when it is complete."""
    if out is None:
        format = format or (
            MatchFormat.table if console.stdout_is_terminal() else MatchFormat.jsonl
        )
        if format is MatchFormat.parquet:
            raise typer.BadParameter("--format parquet needs --out: a file or a directory")
        if format is MatchFormat.table:
            from tamis.cli.shared.table_output import TableAnswers

            yield TableAnswers()
        elif format is MatchFormat.counts:
            with CountAnswers(None, matcher).closing() as answers:
                yield answers
        else:
            yield JsonAnswers(None)
        return
    if format is MatchFormat.table:
        raise typer.BadParameter(
            "--out writes jsonl, parquet or counts; a table is for the terminal"
        )
    if format is None:
        format = MatchFormat.parquet if out.endswith(".parquet") else MatchFormat.jsonl
    with _atomic_file(_output_path(out, format)) as draft:
        if format is MatchFormat.jsonl:
            with draft.open("wb") as file:
                yield JsonAnswers(file)
        elif format is MatchFormat.counts:
            with draft.open("wb") as file, CountAnswers(file, matcher).closing() as counts:
                yield counts
        else:
            with ParquetAnswers(draft, matcher).closing() as pairs:
                yield pairs


def _output_path(out: str, format: MatchFormat) -> Path:
    path = Path(out)
    # A path with a suffix is a file, unless a directory of that name exists.
    if path.suffix and not path.is_dir() and not out.endswith(("/", os.sep)):
        return path
    return path / ("counts.jsonl" if format is MatchFormat.counts else f"matches.{format.value}")


@contextmanager
def _atomic_file(path: Path) -> Iterator[Path]:
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        os.replace(draft, path)
    except OSError as error:
        if isinstance(error, BrokenPipeError):  # of our stderr, not of the file
            raise
        raise InputError(error.strerror or str(error), str(path)) from error
    finally:
        with suppress(OSError):  # it was moved, or never created
            draft.unlink()


class JsonAnswers:
    """Writes a line of JSON per event."""

    def __init__(self, file: BinaryIO | None) -> None:
        """Write to the file, or to stdout."""
        import msgspec

        self._file = file
        self._encode = msgspec.json.Encoder().encode
        self._format = msgspec.json.format
        self.on_terminal = file is None and console.stdout_is_terminal()

    def write(self, numbers: list[int], batch: EventBatch, matches: Matches) -> None:
        """Write a line for each event, also without a match."""
        lines = [
            self._format(self._encode({"event": number, "matches": ids}), indent=0) + b"\n"
            for number, ids in zip(numbers, matches.per_event(), strict=True)
        ]
        if self._file:
            self._file.write(b"".join(lines))
        else:
            typer.echo(b"".join(lines), nl=False)


class ParquetAnswers:
    """Writes a row per match: event, subscription, priority."""

    on_terminal = False

    def __init__(self, path: Path, matcher: Matcher) -> None:
        """Write to a file; the matcher knows the type of ids, once it has subscriptions."""
        self._path = path
        self._matcher = matcher
        self._writer: Any = None

    @contextmanager
    def closing(self) -> Iterator[ParquetAnswers]:
        """Close the file at the end; without any match, write an empty table."""
        try:
            yield self
            if self._writer is None:
                self.write([], None, self._matcher.match_batch([]))
        finally:
            if self._writer is not None:
                self._writer.close()

    def write(self, numbers: list[int], batch: EventBatch | None, matches: Matches) -> None:
        """Write the matches of a batch."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = matches.to_arrow()
        event = pa.array(np.array(numbers, np.int64)[matches.event], pa.int64())
        table = table.set_column(0, "event", event)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table)
