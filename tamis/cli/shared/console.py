"""Output of the command line: answers to stdout, everything else to stderr.

Rich decides about colour: none if the stream is not a terminal or NO_COLOR is set.
"""

from __future__ import annotations

import sys

from rich.console import Console as RichConsole
from rich.text import Text


class Console(RichConsole):
    """Rich's console, which prints text as it is and leaves a broken pipe to the caller."""

    def __init__(self, stderr: bool = False) -> None:
        """Write to the current stdout or stderr."""
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Raise, for `GuardedVerbs` to handle; Rich would exit with 1, which means "no" here."""
        raise BrokenPipeError


def stdout() -> Console:
    """Return a console for answers."""
    return Console()


def stderr() -> Console:
    """Return a console for everything else."""
    return Console(stderr=True)


def show(console: Console, text: Text | str) -> None:
    """Print text as it is, without wrapping or cropping."""
    console.print(text, soft_wrap=True)


def error(message: str) -> None:
    """Report an error that ends the command."""
    _show_labelled("error", "bold red", message)


def report_skipped(message: str) -> None:
    """Report something that was skipped."""
    _show_labelled("skipped", "yellow", message)


def note(message: str) -> None:
    """Print a remark that is neither an answer nor an error."""
    show(stderr(), Text(message, style="dim"))


def stdout_is_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


def _show_labelled(label: str, style: str, message: str) -> None:
    show(stderr(), Text.assemble((f"{label}: ", style), message))
