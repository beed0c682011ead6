"""The table of `tamis match`: a line per event with its attributes and matches.

Columns have fixed widths, so that lines can be printed while events are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from tamis.cli.shared import console
from tamis.events.batch import EventBatch
from tamis.matches import Matches
from tamis.paths import path_text
from tamis.values import OPAQUE, Timestamp

_NUMBER = 7
_GAP = 2
_PLAIN = re.compile(r"[\w./:@+-]+")


class TableAnswers:
    """Writes a table to stdout."""

    def __init__(self) -> None:
        """Divide the terminal's width between attributes and matches."""
        self._console = console.stdout()
        self.on_terminal = console.stdout_is_terminal()
        free = max(self._console.width - _NUMBER - 2 * _GAP, 20)
        self._event = free * 11 // 20
        self._matches = free - self._event
        self._headed = False

    def write(self, numbers: list[int], batch: EventBatch, matches: Matches) -> None:
        """Print the events of a batch with their matches."""
        if not self._headed:
            self._headed = True
            self._line("event", "attributes", "matches", "bold")
        for number, row, ids in zip(numbers, batch.rows(), matches.per_event(), strict=True):
            first, *more = _wrap([word(id) for id in ids], self._matches)
            self._line(str(number), render_event(row), first, "green" if ids else "dim")
            for line in more:
                self._line("", "", line, "green")

    def _line(self, number: str, event: str, matches: str, style: str) -> None:
        text = Text.assemble(
            (number.rjust(_NUMBER), "bold" if number == "event" else "cyan"),
            " " * _GAP,
            _fit(event, self._event),
            " " * _GAP,
            (matches, style),
        )
        text.rstrip()
        console.show(self._console, text)


def render_event(event: Mapping[str, object]) -> str:
    """Return an event as one line: `price=900 user.city=Lyon`."""
    return " ".join(f"{name}={word(value)}" for name, value in _leaves(event, ()))


def _leaves(event: Mapping[str, object], above: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    for name, value in event.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*above, name))
        else:
            yield _escape(path_text((*above, name))), value


def word(value: object) -> str:
    """Return a value as a word of a line: `900`, `Lyon`, `"New York"`."""
    if isinstance(value, str):
        # Quoted where the end of the text would be unclear; control characters are escaped.
        return value if _PLAIN.fullmatch(value) else _escape(json.dumps(value, ensure_ascii=False))
    if isinstance(value, Timestamp):
        return str(value).replace(" ", "T")
    if isinstance(value, list):
        return f"[{', '.join(word(element) for element in value)}]"
    if value is OPAQUE:
        return "{…}"
    return "NULL" if value is None else str(value).lower() if value in (True, False) else str(value)


def _escape(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _fit(text: str, width: int) -> str:
    if cell_len(text) > width:
        text = set_cell_size(text, width - 1).rstrip() + "…"
    return set_cell_size(text, width)


def _wrap(words: list[str], width: int) -> list[str]:
    """Join words with commas into lines of the width; a longer word gets its own line."""
    lines = [""]
    for i, word in enumerate(words):
        comma = "," if i < len(words) - 1 else ""
        joined = f"{lines[-1]} {word}{comma}" if lines[-1] else word + comma
        if lines[-1] and cell_len(joined) > width:
            lines.append(word + comma)
        else:
            lines[-1] = joined
    return lines if words else ["-"]
