"""How a command ends: exit codes, and errors without tracebacks."""

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
  0    done
  {NO}    the answer is no ([cyan]explain[/cyan]: the event does not match; [cyan]lint[/cyan]: there
       are findings; [cyan]diff[/cyan]: there are changes)
  {BAD_INPUT}    bad usage, or bad input
  {SOME_SKIPPED}    done, but bad lines were skipped ([cyan]--bad skip[/cyan])
  {INTERRUPTED}  interrupted by Ctrl-C
  {PIPE_CLOSED}  whoever read our output stopped reading

[bold]Examples[/bold]
  tamis match --subscriptions rules.jsonl --events events.jsonl
  tamis compile --subscriptions rules.jsonl --out rules.index
  tamis explain "price <= 1000" --event '{{"price": 1200}}'
  tamis lint rules.jsonl
  tamis parse --format tree "a = 1 AND NOT b > 2"

More of them: [cyan]tamis match --help[/cyan], and so on.
"""


class Verb(TyperCommand):
    """A verb whose `--help` does not say that it is a Boolean."""

    def get_help_option(self, ctx: Any) -> Any:
        """The option, without the name of its type."""
        return _hide_type(super().get_help_option(ctx))


class Verbs(TyperGroup):
    """The same for a group of verbs."""

    def get_help_option(self, ctx: Any) -> Any:
        """The option, without the name of its type."""
        return _hide_type(super().get_help_option(ctx))


class GuardedVerbs(Verbs):
    """A group of verbs whose errors are told in a line or two."""

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
        except OSError as error:  # what we read is blamed where it is read; this is our output
            _drop_stdout()
            console.error(f"cannot write: {error.strerror or error}")
            raise typer.Exit(BAD_INPUT) from None


def _hide_type(option: Any) -> Any:
    if option is not None:
        option.metavar = ""
    return option


def _drop_stdout() -> None:
    # Python flushes once more on its way out, and would complain: let it do so to nobody.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
