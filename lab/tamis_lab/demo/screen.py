"""What a person sees: notes and tables, and how long each phase took."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

# Columns where nobody looks: no cell is cut.
_WIDE = 240


class Screen:
    """Where the demo writes.

    Attributes:
        console: Rich's, without its opinions about what our text means.
        seconds: How long each phase took, by name, in order.
    """

    def __init__(self) -> None:
        """Write to whatever stdout is now."""
        width = None if sys.stdout.isatty() else _WIDE
        self.console = Console(highlight=False, markup=False, emoji=False, width=width)
        self.seconds: dict[str, float] = {}

    def say(self, text: Text | str) -> None:
        """Print a line as it is, however long."""
        self.console.print(text, soft_wrap=True)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Say what is being done, and how long it took."""
        self.say(Text(f"\n{name} …", style="bold"))
        begun = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - begun
        self.say(Text(f"{name}: {self.seconds[name]:.1f} s", style="dim"))

    def rows(self, names: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
        """A small table."""
        table = empty_table(names)
        for row in rows:
            table.add_row(*(cell_text(cell) for cell in row))
        self.console.print(table)


def empty_table(names: tuple[str, ...]) -> Table:
    """A table of columns with these names."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name)
    return table


def cell_text(cell: object) -> Text:
    """A cell: numbers with commas, and never markup."""
    if isinstance(cell, int | float):
        return Text(f"{cell:,.0f}", justify="right")
    return Text("" if cell is None else str(cell))
