"""Parse the options of a data source, which are text; their names are case-insensitive."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from tamis.errors import InputError, shorten


class Options:
    """The options of a data source."""

    def __init__(self, given: Mapping[str, str], known: Sequence[str]) -> None:
        """Take the options.

        Raises:
            InputError: An option is unknown.
        """
        self._given = {name.lower(): value for name, value in given.items()}
        names = {name.lower(): name for name in known}
        for name in self._given.keys() - names.keys():
            close = difflib.get_close_matches(name, names, n=1)
            hint = (
                f"did you mean {names[close[0]]!r}?" if close else f"the options are {tuple(known)}"
            )
            raise InputError(f"unknown option; {hint}", name)

    def text(self, name: str) -> str | None:
        """Return the text of an option, or None."""
        return self._given.get(name.lower())

    def integer(self, name: str, least: int) -> int | None:
        """Return a whole number, or None if the option is absent.

        Raises:
            InputError: It is not a whole number, or too small.
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
        """Return the value of `true` or `false`.

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
        """Return one of some words; the first if the option is absent.

        Raises:
            InputError: It is another word.
        """
        text = self.text(name)
        if text is None:
            return choices[0]
        if text.lower() not in choices:
            raise InputError(f"must be {' or '.join(choices)}, not {shorten(text)!r}", name)
        return text.lower()
