"""Plots of figures: ours as lines, the paper's printed values as crosses, as SVG and PNG.

The colours are those of Okabe and Ito, which people with colour vision deficiencies can
distinguish; each curve has its own marker too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tamis_lab.harness.plots import load_pyplot
from tamis_lab.papers.spec import CurveValue, Figure

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C00")
_MARKERS = "osD^vP*X"
_SUFFIXES = (".svg", ".png")


def draw(figure: Figure, curves: Mapping[str, Sequence[CurveValue]], folder: Path) -> str | None:
    """Draw a figure into a folder, as SVG and PNG; return the name of the files without suffix.

    If nothing was measured, nothing is drawn, and the result is None.

    Raises:
        ImportError: Matplotlib is not installed.
    """
    pyplot = load_pyplot()
    if not any(curves.values()):
        return None
    # The same input gives the same file: no date, and no random names inside.
    pyplot.rcParams["svg.hashsalt"] = figure.name
    drawing, plot = pyplot.subplots(figsize=(7.2, 4.4), layout="constrained")
    for number, curve in enumerate(figure.curves):
        colour, marker = (kind[number % len(kind)] for kind in (_COLOURS, _MARKERS))
        _draw_curve(plot, curve.label, curves[curve.label], colour, marker, curve.is_ours)
        printed = figure.paper_values.get(curve.label)
        if printed:
            xs, ys = zip(*printed, strict=True)
            plot.plot(xs, ys, "x--", color=colour, alpha=0.55, label=f"{curve.label}: paper")
    plot.set(xlabel=figure.x, ylabel=figure.y, title=f"{figure.number}: {figure.title}")
    for axis in figure.log:
        getattr(plot, f"set_{axis}scale")("log")
    if "y" not in figure.log:
        plot.set_ylim(bottom=0)
    plot.grid(visible=True, which="major", alpha=0.3)
    plot.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in _SUFFIXES:
        drawing.savefig(folder / f"{figure.name}{suffix}", dpi=110, metadata=_file_metadata(suffix))
    pyplot.close(drawing)
    return figure.name


def _draw_curve(
    plot: Any, label: str, values: Sequence[CurveValue], colour: str, marker: str, is_ours: bool
) -> None:
    if not values:
        return
    xs, ys, lows, highs = zip(*values, strict=True)
    style = ":" if is_ours else "-"
    plot.plot(xs, ys, style, color=colour, marker=marker, markersize=5, label=label)
    if any(low < high for low, high in zip(lows, highs, strict=True)):
        plot.fill_between(xs, lows, highs, color=colour, alpha=0.12, linewidth=0)


def _file_metadata(suffix: str) -> dict[str, None] | None:
    return {"Date": None} if suffix == ".svg" else None
