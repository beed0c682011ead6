"""Plots of the figures of the DEBS 2008 paper, from the rows of `tamis bench bloom`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tamis_lab.bench.bloom import VALUES
from tamis_lab.harness.measure import Row
from tamis_lab.harness.plots import load_pyplot

Rows = Sequence[Row]


def draw(found: Mapping[str, Rows], folder: Path) -> list[Path]:
    """Draw the figures of all experiments that were run; the files.

    Raises:
        ImportError: There is no Matplotlib.
    """
    pyplot = load_pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for experiment, name, paint in _FIGURES:
        if experiment in found:
            figure = pyplot.figure(layout="constrained")
            paint(figure, found[experiment])
            files.append(folder / f"{name}.svg")
            figure.savefig(files[-1])
            pyplot.close(figure)
    return files


def _figure_4(figure: Any, rows: Rows) -> None:
    figure.set_size_inches(10, 4)
    kept = [row for row in rows if row["values"] == VALUES]
    for plot, choice in zip(figure.subplots(1, 2), ("uniform", "pareto"), strict=True):
        here = [row for row in kept if row["choice"] == choice]
        for names, part in _group_rows(here, "names").items():
            _line(plot, part, "subscriptions", "predicates_per_event", f"{names:,} names")
        _label_axes(plot, f"Figure 4: {choice} names", "subscriptions", "predicates per event")


def _figure_5(figure: Any, rows: Rows) -> None:
    plot = figure.subplots()
    for logarithm, part in _group_rows(rows, "log2_m").items():
        (line,) = _line(plot, part, "n", "equation_10", f"m = 2^{logarithm}")
        plot.plot(
            [row["n"] for row in part],
            [row["measured"] for row in part],
            "x",
            color=line.get_color(),
        )
    plot.set_xscale("log")
    _label_axes(plot, "Figure 5: best k (lines: Equation 10; x: measured)", "n", "false positives")


def _time_figure(number: int, column: str, title: str) -> Callable[[Any, Rows], None]:
    def paint(figure: Any, rows: Rows) -> None:
        figure.set_size_inches(14, 4)
        settings = list(dict.fromkeys((row["names"], row["choice"]) for row in rows))
        plots = figure.subplots(1, len(settings), squeeze=False)[0]
        for plot, (names, choice) in zip(plots, settings, strict=True):
            here = [row for row in rows if (row["names"], row["choice"]) == (names, choice)]
            for structure, part in _group_rows(here, "structure").items():
                _line(plot, part, "subscriptions", column, str(structure))
            plot.set_yscale("log")
            _label_axes(plot, f"Figure {number}: {names:,} names, {choice}", "subscriptions", title)

    return paint


def _figure_8(figure: Any, rows: Rows) -> None:
    figure.set_size_inches(10, 4)
    share, number = figure.subplots(1, 2)
    filters = dict.fromkeys((row["log2_m"], row["k"]) for row in rows)
    for logarithm, k in filters:
        part = [row for row in rows if (row["log2_m"], row["k"]) == (logarithm, k)]
        _line(share, part, "notified", "percent", f"m = 2^{logarithm}, k = {k}")
        _line(number, part, "subscriptions", "events_with_one", f"m = 2^{logarithm}, k = {k}")
    _label_axes(share, "Figure 8 (a)", "subscribers notified", "false positives, %")
    _label_axes(number, "Figure 8 (b)", "subscriptions", "events with a false positive")


_FIGURES: tuple[tuple[str, str, Callable[[Any, Rows], None]], ...] = (
    ("predicates", "figure-4", _figure_4),
    ("probability", "figure-5", _figure_5),
    ("routing", "figure-6", _time_figure(6, "insertion_s", "seconds to insert")),
    ("routing", "figure-7", _time_figure(7, "matching_s", "seconds for the events")),
    ("false-positives", "figure-8", _figure_8),
)


def _group_rows(rows: Rows, column: str) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[column], []).append(row)
    return groups


def _line(plot: Any, rows: Rows, x: str, y: str, label: str) -> Any:
    return plot.plot([row[x] for row in rows], [row[y] for row in rows], marker=".", label=label)


def _label_axes(plot: Any, title: str, x: str, y: str) -> None:
    plot.set_title(title)
    plot.set_xlabel(x)
    plot.set_ylabel(y)
    plot.grid(visible=True, alpha=0.3)
    plot.legend(fontsize=7)
