"""A progress bar on stderr, where a person sees it and it does not stand in the way."""

from __future__ import annotations

import sys
from types import TracebackType

from tamis.cli.shared import console


class Progress:
    """What is being read, and how much of it; silent where nobody looks."""

    def __init__(self, quiet: bool, answers_on_terminal: bool) -> None:
        """Decide whether there is a bar.

        Answers that roll over the terminal are progress enough, and a bar would break into them.
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
        """Take the bar away."""
        if self._bar:
            self._bar.stop()

    @property
    def is_shown(self) -> bool:
        """Whether anybody sees it."""
        return self._bar is not None

    def start(self, what: str) -> None:
        """Begin with something else."""
        if self._bar:
            self._bar.reset(self._task, total=None, description=what, count="")

    def update(self, count: int, fraction: float | None, text: str | None = None) -> None:
        """So many are done, which is such a part of all; `text` instead of the number."""
        if self._bar:
            total = None if fraction is None else 1.0
            said = f"{count:,}" if text is None else text
            self._bar.update(self._task, completed=fraction or 0, total=total, count=said)
