"""How figures grow with the size: fitted lines and powers, and plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tamis_lab.harness.measure import Row
from tamis_lab.harness.plots import load_pyplot


class LinearFit(NamedTuple):
    """The line `fixed + each * size`: a fixed cost, and a cost per item.

    Attributes:
        worst: The largest factor between a point and the line.
    """

    fixed: float
    each: float
    worst: float

    def __call__(self, size: float) -> float:
        """Return the value for a size."""
        return self.fixed + self.each * size

    def __str__(self) -> str:
        """Format the line as a formula."""
        return f"{self.fixed:.3g} + {self.each:.3g}·n (within {self.worst:.2f}x)"


def fit_line(sizes: Sequence[float], figures: Sequence[float]) -> LinearFit:
    """Fit a line, by relative error: being off by a tenth counts the same at every size.

    >>> fit_line([1, 10, 100], [7, 25, 205])
    LinearFit(fixed=5.0, each=2.0, worst=1.0)
    """
    x, y = np.asarray(sizes, float), np.asarray(figures, float)
    fixed, each = np.linalg.lstsq(np.column_stack([1 / y, x / y]), np.ones(len(y)), rcond=None)[0]
    if fixed < 0:  # a cost cannot be negative
        fixed, each = 0.0, (x / y).sum() / ((x / y) ** 2).sum()
    found = fixed + each * x
    worst = np.maximum(found / y, y / found).max()
    return LinearFit(*(float(figure.round(12)) for figure in (np.asarray(fixed), each, worst)))


def exponent(sizes: Sequence[float], figures: Sequence[float]) -> float:
    """Return the power of the size that figures grow with, by least squares on logarithms.

    >>> round(exponent([1, 10, 100], [3, 30, 300]), 6)
    1.0
    """
    x, y = np.log(np.asarray(sizes, float)), np.log(np.asarray(figures, float))
    return float(np.polyfit(x, y, 1)[0])


# Titles of the plots, by figure.
_SHOWN = {
    "compile_s": "seconds to compile",
    "match_s": "seconds for 1,000,000 events",
    "index_mb": "index, MB",
    "worker_private_mb": "private memory of the workers, MB",
}


def draw(rows: Iterable[Row], folder: Path) -> list[str]:
    """Plot time and memory against subscriptions, a line per number of executors; return the fits.

    Raises:
        ImportError: Matplotlib is not installed.
    """
    pyplot = load_pyplot()
    by_executors: dict[object, list[Mapping[str, object]]] = {}
    for row in rows:
        by_executors.setdefault(row["executors"], []).append(row)
    figure, plots = pyplot.subplots(2, 2, figsize=(10, 7), layout="constrained")
    fits = []
    for plot, (name, title) in zip(plots.flat, _SHOWN.items(), strict=True):
        for executors, found in by_executors.items():
            sizes = [float(row["subscriptions"]) for row in found]  # type: ignore[arg-type]
            figures = [float(row[name]) for row in found]  # type: ignore[arg-type]
            label = f"{executors} executor thread{'s' if executors != 1 else ''}"
            if len(sizes) > 1:
                fit = fit_line(sizes, figures)
                label += f": {fit}"
                fits.append(f"{title}, {executors}: {fit}")
            plot.loglog(sizes, figures, marker="o", label=label)
        plot.set_xlabel("subscriptions")
        plot.set_title(title)
        plot.grid(visible=True, alpha=0.3)
        plot.legend(fontsize=7)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "spark-growth.svg")
    pyplot.close(figure)
    return fits
