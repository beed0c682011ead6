"""Load subscriptions from a file into a matcher, and report bad lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tamis.cli.shared.options import BadLinePolicy
from tamis.cli.shared.progress import Progress
from tamis.errors import InputError, SelectorError, UnsupportedExpression

if TYPE_CHECKING:
    from tamis.events.records import BadLine
    from tamis.matcher import Matcher

# Subscriptions added between two updates of the progress bar.
_STEP = 5_000


def load(
    matcher: Matcher,
    file: str,
    bad: BadLinePolicy,
    on_bad: Callable[[BadLine], None],
    bar: Progress,
) -> None:
    """Add all subscriptions of a file.

    Raises:
        InputError: There is a bad line and `bad` is `fail`; with `skip`, `on_bad` gets it.
    """
    from tamis.events.records import BadLine, InputFile
    from tamis.events.subscription_files import read_subscriptions

    bar.start("subscriptions")
    rows = list(read_subscriptions(file, bad.value, on_bad))
    for begin in range(0, len(rows), _STEP):
        some = rows[begin : begin + _STEP]
        added = matcher.add_many([row[:3] for row in some], bad="skip")
        for rejected in added.rejected:
            reason, line = str(rejected.error), some[rejected.row].line
            if isinstance(rejected.error, SelectorError | UnsupportedExpression):
                reason = f"subscription {rejected.id!r}: {reason}"
            found = BadLine(InputFile(file).name, line, reason)
            if bad is BadLinePolicy.fail:
                raise found.as_error()
            on_bad(found)
        bar.update(begin + len(some), (begin + len(some)) / len(rows))


@contextmanager
def bad_line_hint() -> Iterator[None]:
    """Add a hint to errors about a bad line."""
    try:
        yield
    except InputError as error:
        if error.line is not None:
            error.add_note("--bad skip reports such lines and continues")
        raise


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, for a summary: `3 events`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
