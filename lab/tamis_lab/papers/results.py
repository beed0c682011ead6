"""Results on disk: JSON lines, each with what was measured, on what, and on which machine.

A run that was interrupted goes on where it stopped: a point that has a line is not measured again,
but for one that failed, which is tried once more when it is asked for.
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
    """What has been measured so far.

    Attributes:
        file: Where it is kept; None keeps nothing.
        lines: By the key of a point.
        workloads: What was prepared, by kind and parameters.
        machine: Where the last line was measured.
        scale: The scale that was asked for; "" where none is known.
    """

    file: Path | None = None
    lines: dict[str, Row] = field(default_factory=dict)
    workloads: dict[str, Row] = field(default_factory=dict)
    machine: Row = field(default_factory=dict)
    scale: str = ""

    @classmethod
    def open(cls, file: Path) -> Results:
        """Read a file; there may be none yet.

        Raises:
            InputError: A line is not such a line; one that was cut off at the end is let go.
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
                raise InputError(f"{file}, line {number} is no result: {error!r}") from None
        return found

    def begin(self, scale: str) -> None:
        """Note the scale.

        Raises:
            InputError: What is there has another.
        """
        if self.scale and self.scale != scale:
            raise InputError(
                f"{self.file} holds results at scale {self.scale!r}; take another file"
            )
        if not self.scale:
            self.add({"table": "about", "scale": scale})

    def add(self, line: Row) -> None:
        """Keep a line, on disk at once."""
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
        """The points that have no result yet, each once."""
        wanted = {point.key: point for point in points}
        return [
            point
            for key, point in wanted.items()
            if "failed" in self.lines.get(key, {"failed": "never tried"})
        ]

    def metrics(self, point: Point) -> Mapping[str, Any] | None:
        """What was measured at a point; None where nothing was."""
        found = self.lines.get(point.key, {}).get("metrics")
        return found if isinstance(found, dict) else None

    # -- as curves --------------------------------------------------------------------------------

    def curve(self, curve: Curve) -> list[CurveValue]:
        """The values of a curve that there are."""
        found = []
        for x, point, metric in curve.places:
            metrics = self.metrics(point)
            if metrics is not None and metric in metrics:
                y = float(metrics[metric])
                low, high = (float(metrics.get(f"{metric} {end}", y)) for end in ("low", "high"))
                found.append(CurveValue(x, y, low, high))
        return found

    def curves(self, figure: Figure) -> dict[str, list[CurveValue]]:
        """The values of all curves of a figure, by label."""
        return {curve.label: self.curve(curve) for curve in figure.curves}

    def gaps(self, figure: Figure) -> Iterator[str]:
        """What is not in a figure that should be, and why; a line for each curve and reason."""
        for curve in figure.curves:
            lacking: dict[str, list[str]] = {}
            for x, point, metric in curve.places:
                why = self._missing_reason(point, metric)
                if why is not None:
                    lacking.setdefault(why, []).append(figure.x_name(x))
            for why, places in lacking.items():
                yield f"{curve.label} at {', '.join(places)}: {why}"

    def _missing_reason(self, point: Point, metric: str) -> str | None:
        """Why there is no such metric of a point; None where there is."""
        line = self.lines.get(point.key)
        if line is None:
            return "not measured"
        if "failed" in line:
            return str(line["failed"])
        metrics = line["metrics"]
        assert isinstance(metrics, dict)
        return None if metric in metrics else str(metrics.get("refused", "no such metric"))
