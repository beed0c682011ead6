"""The parts of a table or figure of a paper: points to measure, curves through them, claims."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

SCALES = ("small", "paper")


@dataclass(frozen=True)
class Point:
    """One measurement, made in its own process.

    Attributes:
        kind: What is measured; a name in `kinds.KINDS`.
        parameters: What it is measured on, as JSON values.
        limit: Seconds after which it is abandoned; the results record that.
    """

    kind: str
    parameters: Mapping[str, Any]
    limit: float = 600.0

    @property
    def key(self) -> str:
        """The identity of the point: figures that need the same point share it."""
        return f"{self.kind} {json.dumps(self.parameters, sort_keys=True)}"

    @property
    def size(self) -> int:
        """Number of subscriptions or queries; 0 if there are none."""
        return int(self.parameters.get("subscriptions", self.parameters.get("queries", 0)))


class CurvePoint(NamedTuple):
    """A place on a curve: the x, the point that is measured, and the metric for the y."""

    x: float
    point: Point
    metric: str


@dataclass(frozen=True)
class Curve:
    """A line of a figure.

    Attributes:
        label: The text of the legend.
        places: From left to right.
        is_ours: The paper has no such line.
    """

    label: str
    places: tuple[CurvePoint, ...]
    is_ours: bool = False

    @classmethod
    def over(
        cls, x: str, label: str, points: Iterable[Point], metric: str, is_ours: bool = False
    ) -> Curve:
        """Return a curve of a metric of points over one of their parameters."""
        places = (CurvePoint(point.parameters[x], point, metric) for point in points)
        return cls(label, tuple(places), is_ours)


class CurveValue(NamedTuple):
    """A value of a curve, with the lowest and the highest of its rounds, if there are several."""

    x: float
    y: float
    low: float
    high: float


# The values that could be measured, by label.
Curves = Mapping[str, Sequence[CurveValue]]


class Verdict(NamedTuple):
    """Whether a claim holds, and the evidence; None if too little could be measured."""

    holds: bool | None
    evidence: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper about a figure, in our words, and how to check it.

    Attributes:
        text: What the paper says.
        check: Decides from the curves whether it holds.
    """

    text: str
    check: Callable[[Curves], Verdict]


@dataclass(frozen=True)
class Figure:
    """A table or a figure.

    Attributes:
        paper: "bdd", "atree" or "bloom"; "beyond" for figures of no paper.
        number: As in the paper: "Figure 5.4".
        title: What it shows.
        x: The label of the x axis.
        y: The label of the y axis.
        curves: Its lines.
        claims: What the paper says about it.
        paper_values: The values that the paper prints, by label of a curve.
        log: The axes that are logarithmic: "", "x", "y" or "xy".
        names: The name of each x, if they are not numbers.
        note: How the figure differs from the paper.
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
        """The name of its files."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.paper}-{self.number}".lower()).strip("-")

    def x_name(self, x: float) -> str:
        """Return the name of an x."""
        return self.names[int(x)] if self.names else f"{x:,.10g}"

    def points(self) -> list[Point]:
        """Return the points that must be measured for it."""
        return [place.point for curve in self.curves for place in curve.places]
