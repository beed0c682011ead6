"""The output of the demo: notes, tables, and the duration of each phase."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

# Columns when the output is not a terminal, so that no cell is truncated.
_WIDE = 240


class Screen:
    """The output of the demo.

    Attributes:
        console: Rich's console, without highlighting, markup or emoji.
        seconds: Duration of each phase by name, in order.
    """

    def __init__(self) -> None:
        """Write to the current stdout."""
        width = None if sys.stdout.isatty() else _WIDE
        self.console = Console(highlight=False, markup=False, emoji=False, width=width)
        self.seconds: dict[str, float] = {}

    def say(self, text: Text | str) -> None:
        """Print a line unchanged, however long."""
        self.console.print(text, soft_wrap=True)

    @contextlib.contextmanager
    def phase(self, name: str, about: str = "") -> Iterator[None]:
        """Print the name of a phase, what takes time in it, and how long it took."""
        self.say(Text.assemble((f"\n{name} …", "bold"), (f" {about}" if about else "", "dim")))
        begun = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - begun
        self.say(Text(f"{name}: {self.seconds[name]:.1f} s", style="dim"))

    def rows(self, names: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
        """Print a small table."""
        table = empty_table(names)
        for row in rows:
            table.add_row(*(cell_text(cell) for cell in row))
        self.console.print(table)


def empty_table(names: tuple[str, ...]) -> Table:
    """Return a table with these columns."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name)
    return table


def cell_text(cell: object) -> Text:
    """Format a cell: numbers with commas, no markup."""
    if isinstance(cell, int | float):
        return Text(f"{cell:,.0f}", justify="right")
    return Text("" if cell is None else str(cell))
