"""A progress bar on stderr."""

from __future__ import annotations

import sys
from types import TracebackType

from tamis.cli.shared import console


class Progress:
    """A progress bar, shown only if stderr is a terminal and answers do not scroll over it."""

    def __init__(self, quiet: bool, answers_on_terminal: bool) -> None:
        """Decide whether to show a bar.

        Answers printed on the terminal show the progress, and a bar would disturb them.
        """
        self._bar = None
        if not quiet and sys.stderr.isatty() and not answers_on_terminal:
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[count]}"),
                TimeElapsedColumn(),
                console=console.stderr(),
                transient=True,
                redirect_stdout=False,
            )
            self._task = self._bar.add_task("", total=None, count="")

    def __enter__(self) -> Progress:
        """Show the bar."""
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the bar."""
        if self._bar:
            self._bar.stop()

    @property
    def is_shown(self) -> bool:
        """Whether the bar is shown."""
        return self._bar is not None

    def start(self, what: str) -> None:
        """Start the bar anew for another task."""
        if self._bar:
            self._bar.reset(self._task, total=None, description=what, count="")

    def update(self, count: int, fraction: float | None, text: str | None = None) -> None:
        """Show the number done, or `text` instead, and the fraction of the whole if it is known."""
        if self._bar:
            total = None if fraction is None else 1.0
            label = f"{count:,}" if text is None else text
            self._bar.update(self._task, completed=fraction or 0, total=total, count=label)
