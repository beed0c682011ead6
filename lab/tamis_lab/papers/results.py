"""Results on disk: JSON lines with the metrics of a point, its parameters, and the machine.

An interrupted run continues where it stopped: a point that has a line is not measured again, unless
it failed; then it is tried again when it is requested.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tamis.errors import InputError
from tamis_lab.harness.measure import Row
from tamis_lab.papers.spec import Curve, CurveValue, Figure, Point


@dataclass
class Results:
    """The results so far.

    Attributes:
        file: Where they are stored; None keeps them in memory only.
        lines: By the key of a point.
        workloads: The prepared workloads, by kind and parameters.
        machine: Where the last line was measured.
        scale: The scale of the run; "" if unknown.
    """

    file: Path | None = None
    lines: dict[str, Row] = field(default_factory=dict)
    workloads: dict[str, Row] = field(default_factory=dict)
    machine: Row = field(default_factory=dict)
    scale: str = ""

    @classmethod
    def open(cls, file: Path) -> Results:
        """Read a file, which need not exist yet; an incomplete last line is dropped.

        Raises:
            InputError: A line is not a result.
        """
        found = cls(file)
        if not file.exists():
            return found
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            try:
                found._take(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                if number == len(lines) and not text.endswith("\n"):
                    file.write_text("".join(f"{whole}\n" for whole in lines[:-1]), "utf-8")
                    break
                raise InputError(f"is not a result: {error!r}", str(file), number) from None
        return found

    def begin(self, scale: str) -> None:
        """Record the scale.

        Raises:
            InputError: The file has another scale.
        """
        if self.scale and self.scale != scale:
            raise InputError(
                f"contains results at scale {self.scale!r}; use another file", str(self.file)
            )
        if not self.scale:
            self.add({"table": "about", "scale": scale})

    def add(self, line: Row) -> None:
        """Add a line, and write it to disk at once."""
        self._take(line)
        if self.file is not None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")

    def _take(self, line: Any) -> None:
        if line["table"] == "about":
            self.scale = line["scale"]
        elif line["table"] == "workloads":
            self.workloads[line["key"]] = line["found"]
        else:
            self.lines[line["key"]] = line
            self.machine = line.get("machine", self.machine)

    def missing(self, points: Iterable[Point]) -> list[Point]:
        """Return the points that have no result yet, each once."""
        wanted = {point.key: point for point in points}
        return [
            point
            for key, point in wanted.items()
            if "failed" in self.lines.get(key, {"failed": "never tried"})
        ]

    def metrics(self, point: Point) -> Mapping[str, Any] | None:
        """Return the metrics of a point; None if it was not measured."""
        found = self.lines.get(point.key, {}).get("metrics")
        return found if isinstance(found, dict) else None

    # -- as curves --------------------------------------------------------------------------------

    def curve(self, curve: Curve) -> list[CurveValue]:
        """Return the values of a curve that were measured."""
        found = []
        for x, point, metric in curve.places:
            metrics = self.metrics(point)
            if metrics is not None and metric in metrics:
                y = float(metrics[metric])
                low, high = (float(metrics.get(f"{metric} {end}", y)) for end in ("low", "high"))
                found.append(CurveValue(x, y, low, high))
        return found

    def curves(self, figure: Figure) -> dict[str, list[CurveValue]]:
        """Return the values of all curves of a figure, by label."""
        return {curve.label: self.curve(curve) for curve in figure.curves}

    def gaps(self, figure: Figure) -> Iterator[str]:
        """Yield what is missing in a figure and why; a line for each curve and reason."""
        for curve in figure.curves:
            lacking: dict[str, list[str]] = {}
            for x, point, metric in curve.places:
                why = self._missing_reason(point, metric)
                if why is not None:
                    lacking.setdefault(why, []).append(figure.x_name(x))
            for why, places in lacking.items():
                yield f"{curve.label} at {', '.join(places)}: {why}"

    def _missing_reason(self, point: Point, metric: str) -> str | None:
        """Return why a point lacks a metric; None if it has it."""
        line = self.lines.get(point.key)
        if line is None:
            return "not measured"
        if "failed" in line:
            return str(line["failed"])
        metrics = line["metrics"]
        assert isinstance(metrics, dict)
        return None if metric in metrics else str(metrics.get("refused", "no such metric"))
