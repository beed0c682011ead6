"""Where the command line writes: answers to stdout, all else to stderr; colour on terminals only.

Rich decides about colour: none where the stream is no terminal, or where NO_COLOR is set.
"""

from __future__ import annotations

import sys

from rich.console import Console as RichConsole
from rich.text import Text


class Console(RichConsole):
    """Rich's console, without its opinions about what our text means, or how we end."""

    def __init__(self, stderr: bool = False) -> None:
        """Write to whatever stdout or stderr is now."""
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Leave it to the guard; Rich would exit with the code that means "no" here."""
        raise BrokenPipeError


def stdout() -> Console:
    """For answers."""
    return Console()


def stderr() -> Console:
    """For all else."""
    return Console(stderr=True)


def show(console: Console, text: Text | str) -> None:
    """Print text as it is: no wrapping, no cropping, whatever the width."""
    console.print(text, soft_wrap=True)


def error(message: str) -> None:
    """Say what stopped us."""
    _show_labelled("error", "bold red", message)


def report_skipped(message: str) -> None:
    """Say what did not stop us."""
    _show_labelled("skipped", "yellow", message)


def note(message: str) -> None:
    """Say something that is neither an answer nor an error."""
    show(stderr(), Text(message, style="dim"))


def stdout_is_terminal() -> bool:
    """Whether a person reads our answers."""
    return sys.stdout.isatty()


def _show_labelled(label: str, style: str, message: str) -> None:
    show(stderr(), Text.assemble((f"{label}: ", style), message))
