"""One check, and one message, for a name that must be one of a few."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

from tamis.errors import InputError, shorten


def check_known(what: str, names: Iterable[str], known: Collection[str], where: str = "") -> None:
    """Check that names are known.

    >>> check_known("workload", ["fligths"], ["flights", "texts"])
    Traceback (most recent call last):
    tamis.errors.InputError: unknown workload 'fligths'; did you mean 'flights'?

    Args:
        what: What the names stand for, in the singular.
        names: The names to check.
        known: The names that exist.
        where: The option or parameter that the names come from.

    Raises:
        InputError: A name is unknown. The message suggests a similar one, or lists all.
    """
    for name in names:
        if name not in known:
            message = f"unknown {what} {shorten(name)!r}; {suggest_name(name, known)}"
            raise InputError(message, where)


def suggest_name(name: str, known: Collection[str]) -> str:
    """Return the end of a message about an unknown name: a similar one, or all that exist."""
    close = difflib.get_close_matches(name, list(known), n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"one of {', '.join(known)}" if known else "there are none"
