"""LIKE patterns and regular expressions: validation and matching."""

from __future__ import annotations

from functools import lru_cache

import re2

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False

# Longer patterns are not cached: a few thousand of them would fill the memory.
_LONGEST_CACHED = 1_000


def regex_fault(pattern: str) -> str:
    """Return why RE2 refuses the pattern; empty if it does not."""
    try:
        _compile.__wrapped__(pattern)
    except re2.error as error:
        reason = error.args[0] if error.args else "refused by RE2"
        return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    return ""


def regex_size(pattern: str) -> int:
    """Return the number of instructions that RE2 compiles the pattern to."""
    size: int = _compile.__wrapped__(pattern).programsize
    return size


def regex_matches(pattern: str, text: str) -> bool:
    """Whether some part of the text matches."""
    compiled = _compile if len(pattern) <= _LONGEST_CACHED else _compile.__wrapped__
    return compiled(pattern).search(text) is not None


def like_fault(pattern: str, escape: str) -> str:
    """Return what is wrong with a LIKE pattern; empty if nothing."""
    if escape not in pattern:
        return ""
    at = 0
    while at < len(pattern):
        if pattern[at] == escape:
            if at + 1 == len(pattern):
                return f"the pattern ends with the escape character {escape!r}"
            if pattern[at + 1] not in ("%", "_", escape):
                return f"the escape character {escape!r} must not precede {pattern[at + 1]!r}"
            at += 1
        at += 1
    return ""


def like_matches(pattern: str, escape: str, ignore_case: bool, text: str) -> bool:
    """Whether the whole text matches the LIKE pattern."""
    if ignore_case:
        text = text.lower()
    head, *middle = like_runs(pattern, escape, ignore_case)
    if not middle:
        return len(text) == len(head) and _matches_at(head, text, 0)
    tail = middle.pop()
    end = len(text) - len(tail)
    if end < len(head) or not (_matches_at(head, text, 0) and _matches_at(tail, text, end)):
        return False
    # Between head and tail, taking the leftmost position never loses a match.
    at = len(head)
    for run in middle:
        at = _find(run, text, at, end)
        if at < 0:
            return False
        at += len(run)
    return True


# A run is the part between two %: characters, with None for each _.
Run = tuple[str | None, ...]


def like_runs(pattern: str, escape: str, ignore_case: bool) -> list[Run]:
    """Split a LIKE pattern at every %; in lower case if case is ignored."""
    split = _runs if len(pattern) <= _LONGEST_CACHED else _runs.__wrapped__
    return split(pattern, escape, ignore_case)


@lru_cache(maxsize=4096)
def _runs(pattern: str, escape: str, ignore_case: bool) -> list[Run]:
    if ignore_case:
        # The whole pattern, as Spark does: a letter's lower case may depend on its neighbours.
        pattern = pattern.lower()
    runs: list[list[str | None]] = [[]]
    at = 0
    while at < len(pattern):
        character = pattern[at]
        if character == escape:
            at += 1
        if character == "%" != escape:
            runs.append([])
        elif character == "_" != escape:
            runs[-1].append(None)
        else:
            runs[-1].append(pattern[at])
        at += 1
    return [tuple(run) for run in runs]


def _matches_at(run: Run, text: str, at: int) -> bool:
    return all(c is None or c == text[at + i] for i, c in enumerate(run))


def _find(run: Run, text: str, begin: int, end: int) -> int:
    if None not in run:
        return text.find("".join(run), begin, end)  # type: ignore[arg-type]
    places = range(begin, end - len(run) + 1)
    return next((at for at in places if _matches_at(run, text, at)), -1)


@lru_cache(maxsize=4096)
def _compile(pattern: str) -> re2._Regexp:
    return re2.compile(pattern, _OPTIONS)
