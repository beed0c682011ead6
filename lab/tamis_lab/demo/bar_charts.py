"""Bar charts as SVG, written by hand: the report needs no more than bars and a few ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _HEIGHT = 860, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 12, 12, 44


class Bar(NamedTuple):
    """A bar.

    Attributes:
        value: The height.
        hint: The tooltip.
        tick: The label below the bar, if any.
        kind: The CSS class for the colour, such as `v1`.
    """

    value: float
    hint: str
    tick: str = ""
    kind: str = "v1"


def bars(values: Sequence[Bar], x_title: str, y_title: str) -> str:
    """Return a bar chart as SVG."""
    step, top = _scale(max((bar.value for bar in values), default=0))
    wide = (_WIDTH - _LEFT - _RIGHT) / max(1, len(values))
    high = _HEIGHT - _TOP - _BOTTOM
    floor = _HEIGHT - _BOTTOM
    drawn = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(y_title)}">',
        *_grid(step, top, floor, high),
    ]
    for number, bar in enumerate(values):
        x, height = _LEFT + number * wide, high * bar.value / top
        drawn.append(
            f'<rect class="{bar.kind}" x="{x + wide * 0.08:.1f}" y="{floor - height:.1f}" '
            f'width="{wide * 0.84:.2f}" height="{height:.1f}">'
            f"<title>{escape(bar.hint)}</title></rect>"
        )
        if bar.tick:
            middle = x + wide / 2
            drawn.append(
                f'<text x="{middle:.1f}" y="{floor + 15}" text-anchor="middle">'
                f"{escape(bar.tick)}</text>"
            )
    centre = (_LEFT + _WIDTH - _RIGHT) / 2
    drawn += [
        f'<text class="title" x="{centre}" y="{_HEIGHT - 6}" text-anchor="middle">'
        f"{escape(x_title)}</text>",
        f'<text class="title" transform="translate(12 {_TOP + high / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(y_title)}</text>',
        "</svg>",
    ]
    return "\n".join(drawn)


def _grid(step: float, top: float, floor: int, high: int) -> list[str]:
    lines = []
    for number in range(round(top / step) + 1):
        y = floor - high * number * step / top
        lines.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
            f"{_short_number(number * step)}</text>"
        )
    return lines


def _scale(greatest: float) -> tuple[float, float]:
    """Return a round distance between grid lines, and the topmost line, at `greatest` or above."""
    if greatest <= 0:
        return 1, 1
    rough = greatest / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= rough * 0.999)
    return step, step * math.ceil(greatest / step * 0.9999)


def _short_number(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"
