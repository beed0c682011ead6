"""Paths, which name attributes, and their text in a selector or a schema."""

from __future__ import annotations

import re
from functools import lru_cache

Path = tuple[str, ...]

RESERVED = frozenset("AND OR XOR NOT IN BETWEEN LIKE ILIKE RLIKE ESCAPE IS NULL TRUE FALSE".split())

# A name for the lexer: bare, or any text in backticks.
NAME_PATTERN = r"(?:[^\W\d]|\$)[\w$]*|`(?:[^`]|``)+`"
_PATH = re.compile(rf"(?:{NAME_PATTERN})(?:\.(?:{NAME_PATTERN}))*")
_BARE = re.compile(r"(?:[^\W\d]|\$)[\w$]*")


def parse_path(text: str) -> Path:
    """Parse a path: `` a.`b.c` `` is ("a", "b.c").

    Raises:
        ValueError: The text is not a path.
    """
    if not _PATH.fullmatch(text):
        raise ValueError(f"{text!r} is not a path; quote other names with backticks: `odd name`")
    return split_path(text)


def split_path(token: str) -> Path:
    """Split text that is known to be a path."""
    if "`" not in token:
        return tuple(token.split("."))
    return tuple(
        part[1:-1].replace("``", "`") if part[0] == "`" else part
        for part in re.findall(NAME_PATTERN, token)
    )


def path_text(path: Path) -> str:
    """Return the text of a path, with backticks around names that need them."""
    if len(path) == 1:
        return _first_text(path[0])
    # path[:1], not path[0]: errors about the event itself have an empty path.
    parts = [*map(_first_text, path[:1]), *(_part_text(part, first=False) for part in path[1:])]
    return ".".join(parts)


def _first_text(part: str) -> str:
    # Selectors repeat a few names; very long ones are not cached.
    return _cached_first_text(part) if len(part) <= 64 else _part_text(part, first=True)


@lru_cache(maxsize=16_384)
def _cached_first_text(part: str) -> str:
    return _part_text(part, first=True)


def _part_text(part: str, first: bool) -> str:
    if _BARE.fullmatch(part) and not (first and part.upper() in RESERVED):
        return part
    return "`" + part.replace("`", "``") + "`"
