"""Micro-batches as they are done: a table that grows on a terminal, plain lines elsewhere."""

from __future__ import annotations

from types import TracebackType

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tamis_lab.demo.micro_batches import Batch, span
from tamis_lab.demo.screen import Screen

_COLUMNS = (
    ("micro-batch", 11),
    ("days", 17),
    ("events", 9),
    ("matches", 11),
    ("events/s", 9),
    ("index", 5),
)
# Lines of the terminal that the table leaves free.
_OTHER_LINES = 8


class LiveTable:
    """A table of the finished micro-batches."""

    def __init__(self, screen: Screen, expected: int) -> None:
        """Start with an empty table; `expected` micro-batches will come."""
        self._console = screen.console
        self._expected = expected
        self._batches: list[Batch] = []
        self._live = Live(console=screen.console, transient=True, auto_refresh=False)

    def __enter__(self) -> LiveTable:
        """Show the table, or print its headings."""
        if self._console.is_terminal:
            self._live.start()
        else:
            self._line([name for name, _ in _COLUMNS])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Print the complete table, which stays on the screen."""
        if self._console.is_terminal:
            self._live.stop()
            self._console.print(self._table(self._batches))

    def add(self, batch: Batch) -> None:
        """Show a finished micro-batch."""
        self._batches.append(batch)
        if self._console.is_terminal:
            self._refresh()
        else:
            self._line(_cells(batch))

    def note(self, text: str) -> None:
        """Print a line about something else, above the table."""
        if self._console.is_terminal:
            self._live.console.print(Text(text, style="yellow"))
            self._refresh()
        else:
            self._console.print(text, soft_wrap=True)

    def _refresh(self) -> None:
        fitting = max(1, self._console.height - _OTHER_LINES)
        state = Text(f"{len(self._batches)} of {self._expected} micro-batches", style="dim")
        self._live.update(Group(self._table(self._batches[-fitting:]), state), refresh=True)

    def _table(self, batches: list[Batch]) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name, width in _COLUMNS:
            table.add_column(name, justify="right", min_width=width)
        for batch in batches:
            table.add_row(*_cells(batch), style="" if batch.version == 1 else "green")
        return table

    def _line(self, cells: list[str]) -> None:
        padded = (cell.rjust(width) for cell, (_, width) in zip(cells, _COLUMNS, strict=True))
        self._console.print("  ".join(padded), soft_wrap=True)


def _cells(batch: Batch) -> list[str]:
    return [
        str(batch.number),
        span(batch),
        f"{batch.events:,}",
        f"{batch.matches:,}",
        f"{batch.events_per_second:,.0f}",
        f"v{batch.version}",
    ]
