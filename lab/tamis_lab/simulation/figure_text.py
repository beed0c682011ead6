"""Figures as people read them."""

from __future__ import annotations


def number(figure: float) -> str:
    """A figure with as many digits as mean something.

    >>> number(12345.6), number(3.14159), number(0.00123), number(0)
    ('12,346', '3.14', '0.00123', '0')
    """
    if figure == int(figure) or abs(figure) >= 1000:
        return f"{figure:,.0f}"
    return f"{figure:.3g}"


def bytes_text(size: float) -> str:
    """A number of bytes.

    >>> bytes_text(2_500_000)
    '2.5 MB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{number(size)} {unit}"


def share(part: float, whole: float) -> str:
    """A part of a whole, in percent.

    >>> share(1, 8), share(1, 0)
    ('12.5 %', '-')
    """
    return f"{100 * part / whole:.3g} %" if whole else "-"


def times(one: float, other: float) -> str:
    """How many times one figure is the other."""
    return f"{number(one / other)} times" if other else "-"
