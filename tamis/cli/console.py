"""Where the command line writes: answers to stdout, all else to stderr; colour on terminals only.

Rich decides about colour: none where the stream is no terminal, or where NO_COLOR is set.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


def stdout() -> Console:
    """A console on whatever stdout is now."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def stderr() -> Console:
    """A console on whatever stderr is now."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def show(console: Console, text: Text | str) -> None:
    """Print text as it is: no wrapping, no cropping, whatever the width."""
    console.print(text, soft_wrap=True)


def error(message: str) -> None:
    """Say what stopped us."""
    _labelled("error", "bold red", message)


def skipped(message: str) -> None:
    """Say what did not stop us."""
    _labelled("skipped", "yellow", message)


def note(message: str) -> None:
    """Say something that is neither an answer nor an error."""
    from rich.text import Text

    show(stderr(), Text(message, style="dim"))


def on_terminal() -> bool:
    """Whether a person reads our answers."""
    return sys.stdout.isatty()


def _labelled(label: str, style: str, message: str) -> None:
    from rich.text import Text

    show(stderr(), Text.assemble((f"{label}: ", style), message))
