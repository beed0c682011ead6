"""What a table or a figure of a paper is: points to measure, curves through them, claims."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

SCALES = ("small", "paper")


@dataclass(frozen=True)
class Point:
    """One measurement, made in a process of its own.

    Attributes:
        kind: What is measured; a name in `measuring.KINDS`.
        parameters: What it is measured on; JSON's.
        limit: After so many seconds it is given up, and the results say so.
    """

    kind: str
    parameters: Mapping[str, Any]
    limit: float = 600.0

    @property
    def key(self) -> str:
        """What tells it from all others: figures that want the same point share it."""
        return f"{self.kind} {json.dumps(self.parameters, sort_keys=True)}"

    @property
    def size(self) -> int:
        """How many subscriptions it has, or queries; 0 where there are none."""
        return int(self.parameters.get("subscriptions", self.parameters.get("queries", 0)))


class CurvePoint(NamedTuple):
    """Where a curve passes: the x, the point that is measured, and the metric that is the y."""

    x: float
    point: Point
    metric: str


@dataclass(frozen=True)
class Curve:
    """A line of a figure.

    Attributes:
        label: What the legend says.
        places: From left to right.
        is_ours: The paper has no such line: it is ours.
    """

    label: str
    places: tuple[CurvePoint, ...]
    is_ours: bool = False

    @classmethod
    def over(
        cls, x: str, label: str, points: Iterable[Point], metric: str, is_ours: bool = False
    ) -> Curve:
        """Draw a metric of points over one of their parameters."""
        places = (CurvePoint(point.parameters[x], point, metric) for point in points)
        return cls(label, tuple(places), is_ours)


class CurveValue(NamedTuple):
    """A value of a curve, with the lowest and the highest of its rounds where there are some."""

    x: float
    y: float
    low: float
    high: float


# By label, the values that could be measured.
Curves = Mapping[str, Sequence[CurveValue]]


class Verdict(NamedTuple):
    """Whether a claim holds, and what shows it; None where too little could be measured."""

    holds: bool | None
    evidence: str


@dataclass(frozen=True)
class Claim:
    """Something that the paper says about a figure, in our words, and how to see whether it holds.

    Attributes:
        text: What the paper says.
        check: Given the curves, whether they say so too.
    """

    text: str
    check: Callable[[Curves], Verdict]


@dataclass(frozen=True)
class Figure:
    """A table or a figure.

    Attributes:
        paper: "bdd", "atree" or "bloom"; "beyond" for what no paper has.
        number: As in the paper: "Figure 5.4".
        title: What it shows.
        x: The label of the x axis.
        y: The label of the y axis.
        curves: Its lines.
        claims: What the paper says about it.
        paper_values: The values that the paper prints, by label of a curve.
        log: The axes that are logarithmic: "", "x", "y" or "xy".
        names: What each x is called, if they are no numbers.
        note: What is not as in the paper.
    """

    paper: str
    number: str
    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    claims: tuple[Claim, ...] = ()
    paper_values: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    log: str = ""
    note: str = ""
    names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What files of it are called."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.paper}-{self.number}".lower()).strip("-")

    def x_name(self, x: float) -> str:
        """What an x is called."""
        return self.names[int(x)] if self.names else f"{x:,.10g}"

    def points(self) -> list[Point]:
        """All that must be measured for it."""
        return [place.point for curve in self.curves for place in curve.places]
