"""LIKE patterns and regular expressions: what is wrong with one, and does it match."""

from __future__ import annotations

from functools import lru_cache

import re2

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False

# Longer patterns are not cached: a few thousand of them would fill the memory.
_KEPT = 1_000


def regex_fault(pattern: str) -> str:
    """What RE2 has against the pattern; empty if nothing."""
    try:
        _compile.__wrapped__(pattern)
    except re2.error as error:
        reason = error.args[0] if error.args else "refused by RE2"
        return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    return ""


def regex_size(pattern: str) -> int:
    """How many instructions RE2 makes of the pattern."""
    size: int = _compile.__wrapped__(pattern).programsize
    return size


def regex_matches(pattern: str, text: str) -> bool:
    """Whether some part of the text matches."""
    compiled = _compile if len(pattern) <= _KEPT else _compile.__wrapped__
    return compiled(pattern).search(text) is not None


def like_fault(pattern: str, escape: str) -> str:
    """What is wrong with a LIKE pattern; empty if nothing."""
    if escape not in pattern:
        return ""
    at = 0
    while at < len(pattern):
        if pattern[at] == escape:
            if at + 1 == len(pattern):
                return f"the pattern ends in the escape character {escape!r}"
            if pattern[at + 1] not in ("%", "_", escape):
                return f"the escape character {escape!r} stands before {pattern[at + 1]!r}"
            at += 1
        at += 1
    return ""


def like_matches(pattern: str, escape: str, ignore_case: bool, text: str) -> bool:
    """Whether the whole text matches the LIKE pattern."""
    if ignore_case:
        text = text.lower()
    head, *middle = like_runs(pattern, escape, ignore_case)
    if not middle:
        return len(text) == len(head) and _stands_at(head, text, 0)
    tail = middle.pop()
    end = len(text) - len(tail)
    if end < len(head) or not (_stands_at(head, text, 0) and _stands_at(tail, text, end)):
        return False
    # Between head and tail the leftmost place is always as good as any.
    at = len(head)
    for run in middle:
        at = _find(run, text, at, end)
        if at < 0:
            return False
        at += len(run)
    return True


# A run is what stands between two %: characters, with None for each _.
Run = tuple[str | None, ...]


def like_runs(pattern: str, escape: str, ignore_case: bool) -> list[Run]:
    """A LIKE pattern, cut at every %; in lower case where case does not count."""
    split = _runs if len(pattern) <= _KEPT else _runs.__wrapped__
    return split(pattern, escape, ignore_case)


@lru_cache(maxsize=4096)
def _runs(pattern: str, escape: str, ignore_case: bool) -> list[Run]:
    if ignore_case:
        # All at once, as Spark does: a letter's lower case may depend on the letters beside it.
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


def _stands_at(run: Run, text: str, at: int) -> bool:
    return all(c is None or c == text[at + i] for i, c in enumerate(run))


def _find(run: Run, text: str, begin: int, end: int) -> int:
    if None not in run:
        return text.find("".join(run), begin, end)  # type: ignore[arg-type]
    places = range(begin, end - len(run) + 1)
    return next((at for at in places if _stands_at(run, text, at)), -1)


@lru_cache(maxsize=4096)
def _compile(pattern: str) -> re2._Regexp:
    return re2.compile(pattern, _OPTIONS)
