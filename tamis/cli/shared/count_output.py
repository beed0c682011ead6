"""The output of `tamis match --format counts`: how many events each subscription matched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

import typer

from tamis.cli.shared import console

if TYPE_CHECKING:
    from tamis.events.batch import EventBatch
    from tamis.matcher import Matcher
    from tamis.matches import Id, Matches

_NUMBER = 12


class CountAnswers:
    """Writes a row per subscription, most matches first, then by id."""

    on_terminal = False  # nothing is printed while events are read, so a progress bar may be shown

    def __init__(self, file: BinaryIO | None, matcher: Matcher) -> None:
        """Write to the file, or to stdout; the matcher lists subscriptions without a match too."""
        self._file = file
        self._matcher = matcher
        self._counts: Counter[Id] = Counter()

    def write(self, numbers: list[int], batch: EventBatch, matches: Matches) -> None:
        """Add the counts of a batch."""
        self._counts.update(matches.counts())

    @contextmanager
    def closing(self) -> Iterator[CountAnswers]:
        """Write the rows at the end, unless there was an error."""
        yield self
        counts = [(-self._counts[id], id) for id in self._matcher]
        rows = [(id, -negated) for negated, id in sorted(counts)]
        if self._file:
            self._file.write(_lines(rows))
        elif console.stdout_is_terminal():
            console.show(console.stdout(), _table(rows))
        else:
            typer.echo(_lines(rows), nl=False)


def _lines(rows: list[tuple[Id, int]]) -> bytes:
    import msgspec

    encode, format = msgspec.json.Encoder().encode, msgspec.json.format
    named = ({"subscription": id, "events": count} for id, count in rows)
    return b"".join(format(encode(row), indent=0) + b"\n" for row in named)


def _table(rows: list[tuple[Id, int]]) -> str:
    from tamis.cli.shared.table_output import word

    lines = [f"{count:{_NUMBER},}  {word(id)}" for id, count in rows]
    return "\n".join([f"{'events':>{_NUMBER}}  subscription", *lines])
