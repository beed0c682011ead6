"""Exit codes, and errors reported without tracebacks."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from tamis.cli.shared import console
from tamis.errors import TamisError

NO = 1
BAD_INPUT = 2
SOME_SKIPPED = 3
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
PIPE_CLOSED = 141  # 128 + SIGPIPE

EXIT_CODES = f"""\
[bold]Exit codes[/bold]
  0    success
  {NO}    [cyan]explain[/cyan]: the event does not match; [cyan]lint[/cyan]: there are findings;
       [cyan]diff[/cyan]: there are changes
  {BAD_INPUT}    bad usage or bad input
  {SOME_SKIPPED}    success, but bad lines were skipped ([cyan]--bad skip[/cyan])
  {INTERRUPTED}  interrupted by Ctrl-C
  {PIPE_CLOSED}  the output pipe was closed

[bold]Examples[/bold]
  tamis match --subscriptions rules.jsonl --events events.jsonl
  tamis compile --subscriptions rules.jsonl --out rules.index
  tamis explain "price <= 1000" --event '{{"price": 1200}}'
  tamis lint rules.jsonl
  tamis parse --format tree "a = 1 AND NOT b > 2"

[cyan]tamis VERB --help[/cyan] shows the options and examples of a verb.
"""


class Verb(TyperCommand):
    """A verb whose help does not show `<bool>` beside `--help`."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option without the name of its type."""
        return _hide_type(super().get_help_option(ctx))


class Verbs(TyperGroup):
    """A group of verbs whose help does not show `<bool>` beside `--help`."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option without the name of its type."""
        return _hide_type(super().get_help_option(ctx))


class GuardedVerbs(Verbs):
    """A group of verbs that reports errors in a line or two and sets the exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a verb."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except TamisError as error:
            console.error("\n  ".join([str(error), *getattr(error, "__notes__", ())]))
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _drop_stdout()
            raise typer.Exit(PIPE_CLOSED) from None
        except OSError as error:  # reading reports its own errors: this is our output
            _drop_stdout()
            console.error(f"cannot write: {error.strerror or error}")
            raise typer.Exit(BAD_INPUT) from None


def _hide_type(option: Any) -> Any:
    if option is not None:
        option.metavar = ""
    return option


def _drop_stdout() -> None:
    # Python flushes stdout once more at exit, and would report the error again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
