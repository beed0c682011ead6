"""How attributes are named: paths, and their spelling in a selector or a schema."""

from __future__ import annotations

import re
from functools import lru_cache

Path = tuple[str, ...]

RESERVED = frozenset("AND OR XOR NOT IN BETWEEN LIKE ILIKE RLIKE ESCAPE IS NULL TRUE FALSE".split())

# A name as the lexer knows it: bare, or anything at all in backticks.
NAME_PATTERN = r"(?:[^\W\d]|\$)[\w$]*|`(?:[^`]|``)+`"
_PATH = re.compile(rf"(?:{NAME_PATTERN})(?:\.(?:{NAME_PATTERN}))*")
_BARE = re.compile(r"(?:[^\W\d]|\$)[\w$]*")


def parse_path(text: str) -> Path:
    """`` a.`b.c` `` to ("a", "b.c").

    Raises:
        ValueError: The text does not spell a path.
    """
    if not _PATH.fullmatch(text):
        raise ValueError(f"{text!r} is not a path; write odd names in backticks: `odd name`")
    return split_path(text)


def split_path(token: str) -> Path:
    """The same for text that is known to be a path."""
    if "`" not in token:
        return tuple(token.split("."))
    return tuple(
        part[1:-1].replace("``", "`") if part[0] == "`" else part
        for part in re.findall(NAME_PATTERN, token)
    )


def path_text(path: Path) -> str:
    """Spell a path, with backticks where a name needs them."""
    if len(path) == 1:
        return _first_text(path[0])
    # path[:1] and not path[0]: the event itself, as errors name it, is the empty path.
    parts = [*map(_first_text, path[:1]), *(_part_text(part, first=False) for part in path[1:])]
    return ".".join(parts)


def _first_text(part: str) -> str:
    # The same few names stand in every selector; enormous ones are not kept.
    return _cached_first_text(part) if len(part) <= 64 else _part_text(part, first=True)


@lru_cache(maxsize=16_384)
def _cached_first_text(part: str) -> str:
    return _part_text(part, first=True)


def _part_text(part: str, first: bool) -> str:
    if _BARE.fullmatch(part) and not (first and part.upper() in RESERVED):
        return part
    return "`" + part.replace("`", "``") + "`"
