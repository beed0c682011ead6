"""Figures as text: numbers, sizes, shares and ratios, the same in every table and report."""

from __future__ import annotations


def number(figure: float, digits: int = 3) -> str:
    """Format a figure: whole from 100 on, with so many significant digits below.

    >>> number(12345.6), number(3.14159), number(0.00123), number(0), number(0.0567, digits=1)
    ('12,346', '3.14', '0.00123', '0', '0.06')
    """
    return f"{figure:,.0f}" if abs(figure) >= 100 else f"{figure:.{digits}g}"


def bytes_text(size: float) -> str:
    """Format a number of bytes.

    >>> bytes_text(2_500_000)
    '2.5 MB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{number(size)} {unit}"


def share(part: float, whole: float) -> str:
    """Format a part of a whole in percent.

    >>> share(1, 8), share(1, 0)
    ('12.5 %', '-')
    """
    return f"{100 * part / whole:.3g} %" if whole else "-"


def times(one: float, other: float) -> str:
    """Format the ratio of two figures."""
    return f"{number(one / other)} times" if other else "-"
