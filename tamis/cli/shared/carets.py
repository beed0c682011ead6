"""Carets under parts of a text."""

from __future__ import annotations

from collections.abc import Iterable

_ELLIPSIS = "…"


def underline_spans(text: str, spans: Iterable[tuple[int, int]], width: int) -> tuple[str, str]:
    """Return one line of the text, and a line of carets under the spans in it.

    The line is the one of the first span, cut to the width around it. Each control character is
    replaced by one sign, because it would shift the carets.
    """
    spans = [span for span in spans if span[0] < span[1]]
    at = spans[0][0] if spans else 0
    low = text.rfind("\n", 0, at) + 1
    high = text.find("\n", at)
    high = len(text) if high < 0 else high
    if high - low > width:
        low = max(low, min(at - width // 4, high - width))
        high = min(high, low + width)
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[low:high])
    marks = "".join(
        "^" if any(start <= place < end for start, end in spans) else " "
        for place in range(low, high)
    )
    if low > 0:
        shown, marks = _ELLIPSIS + shown, " " + marks
    return shown + (_ELLIPSIS if high < len(text) else ""), marks.rstrip()
