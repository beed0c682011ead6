"""Options of a data source, read and checked: all of them are texts, in any case."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from tamis.errors import InputError, shorten


class Options:
    """The options that were given."""

    def __init__(self, given: Mapping[str, str], known: Sequence[str]) -> None:
        """Take them.

        Raises:
            InputError: There is one that is not known.
        """
        self._given = {name.lower(): value for name, value in given.items()}
        names = {name.lower(): name for name in known}
        for name in self._given.keys() - names.keys():
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {names[close[0]]!r}?" if close else f"there are {tuple(known)}"
            raise InputError(f"unknown option; {hint}", name)

    def text(self, name: str) -> str | None:
        """What was given, or None."""
        return self._given.get(name.lower())

    def integer(self, name: str, least: int) -> int | None:
        """A whole number, or None if none was given.

        Raises:
            InputError: It is none, or too small.
        """
        text = self.text(name)
        if text is None:
            return None
        try:
            number = int(text)
        except ValueError:
            raise InputError(f"must be a whole number, not {shorten(text)!r}", name) from None
        if number < least:
            raise InputError(f"must be {least} or more, not {number}", name)
        return number

    def flag(self, name: str, otherwise: bool) -> bool:
        """`true` or `false`.

        Raises:
            InputError: It is neither.
        """
        text = self.text(name)
        if text is None:
            return otherwise
        if text.lower() not in ("true", "false"):
            raise InputError(f"must be true or false, not {shorten(text)!r}", name)
        return text.lower() == "true"

    def one_of(self, name: str, choices: Sequence[str]) -> str:
        """One of some words; the first if none was given.

        Raises:
            InputError: It is another one.
        """
        text = self.text(name)
        if text is None:
            return choices[0]
        if text.lower() not in choices:
            raise InputError(f"must be {' or '.join(choices)}, not {shorten(text)!r}", name)
        return text.lower()
