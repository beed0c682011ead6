"""The plots of a simulation, as SVG: a strategy has one colour and one marker everywhere.

The colours are those of Okabe and Ito, which people with colour vision deficiencies can
distinguish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tamis_lab.harness.figure_text import number
from tamis_lab.harness.plots import load_pyplot
from tamis_lab.simulation.job.findings import Line

_STYLES = {
    "flooding": ("#D55E00", "s"),
    "siena": ("#0072B2", "o"),
    "covering": ("#009E73", "^"),
    "edge": ("#CC79A7", "D"),
}
_LINES = {"line": "-", "star": ":", "balanced": "--", "random": "-."}


@contextmanager
def _drawing(file: Path, columns: int = 1) -> Iterator[Any]:
    pyplot = load_pyplot()
    # The same input gives the same file: no date, and no random names inside.
    pyplot.rcParams["svg.hashsalt"] = file.stem
    pyplot.rcParams["svg.fonttype"] = "none"  # keep text searchable, and files small
    drawing, plots = pyplot.subplots(
        1, columns, figsize=(4.2 * columns + 1.6, 3.6), layout="constrained", squeeze=False
    )
    yield plots[0]
    handles, labels = plots[0][0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside right upper", fontsize=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(file, metadata={"Date": None})
    pyplot.close(drawing)


def draw_by_network(
    file: Path, lines: Sequence[Line], figures: Sequence[tuple[str, Callable[[Line], float]]]
) -> None:
    """Draw figures of each strategy, by network, on a logarithmic scale; zeros are left out."""
    networks = list(dict.fromkeys(line["network"] for line in lines))
    strategies = [s for s in _STYLES if any(line["strategy"] == s for line in lines)]
    with _drawing(file, len(figures)) as plots:
        for plot, (title, figure) in zip(plots, figures, strict=True):
            for place, strategy in enumerate(strategies):
                mine = {x["network"]: figure(x) for x in lines if x["strategy"] == strategy}
                # Side by side, because values often coincide.
                shift = (place - (len(strategies) - 1) / 2) * 0.13
                shown = [(n + shift, mine[x]) for n, x in enumerate(networks) if mine.get(x)]
                colour, marker = _STYLES[strategy]
                xs, ys = zip(*shown, strict=True) if shown else ((), ())
                plot.plot(xs, ys, marker, color=colour, markersize=7, label=strategy)
            plot.set(title=title, yscale="log", xticks=range(len(networks)), xticklabels=networks)
            plot.set_xlim(-0.5, len(networks) - 0.5)
            _plain_ticks(plot)
            plot.grid(visible=True, axis="y", which="major", alpha=0.3)


def draw_hops(file: Path, lines: Sequence[Line]) -> None:
    """Draw, by network, the share of arrivals that take so many hops or fewer."""
    networks = list(dict.fromkeys(line["network"] for line in lines))
    with _drawing(file, len(networks)) as plots:
        for plot, network in zip(plots, networks, strict=True):
            for place, (strategy, (colour, marker)) in enumerate(_STYLES.items()):
                for line in lines:
                    if (line["network"], line["strategy"]) == (network, strategy):
                        xs, ys = _shares(line["hops_histogram"])
                        # Markers at different places, because curves often coincide.
                        every = (place % len(xs), max(4, len(xs) // 4))
                        plot.plot(
                            xs, ys, color=colour, marker=marker, markevery=every, label=strategy,
                            markersize=5,
                        )  # fmt: skip
            plot.xaxis.get_major_locator().set_params(integer=True)
            plot.set(title=network, xlabel="hops", ylabel="share of arrivals", ylim=(0, 1.02))
            plot.grid(visible=True, alpha=0.3)


def draw_sweep(file: Path, lines: Sequence[Line], figures: Sequence[tuple[str, str]]) -> None:
    """Draw figures by filter size, for each network and strategy."""
    with _drawing(file, len(figures)) as plots:
        for plot, (title, name) in zip(plots, figures, strict=True):
            for network, style in _LINES.items():
                for strategy in ("covering", "edge"):
                    mine = sorted(
                        (line["m"], line[name])
                        for line in lines
                        if (line["network"], line["strategy"]) == (network, strategy) and line[name]
                    )
                    if mine:
                        colour, marker = _STYLES[strategy]
                        plot.plot(
                            *zip(*mine, strict=True), style, color=colour, marker=marker,
                            markersize=4, label=f"{strategy}, {network}",
                        )  # fmt: skip
            plot.set(title=title, xlabel="bits of a filter, m", yscale="log")
            _plain_ticks(plot)
            plot.set_xscale("log", base=2)
            plot.grid(visible=True, alpha=0.3)


def _plain_ticks(plot: Any) -> None:
    """Write the figures of a logarithmic axis without exponents."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    plot.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    plot.yaxis.set_major_formatter(FuncFormatter(lambda figure, _: number(figure)))
    plot.yaxis.set_minor_formatter(NullFormatter())


def _shares(histogram: dict[str, Any]) -> tuple[list[int], list[float]]:
    """Convert a histogram to cumulative shares."""
    width, counts = histogram["width"], histogram["counts"]
    total, so_far = sum(counts), 0
    xs, ys = [], []
    for place, count in enumerate(counts, 1):
        so_far += count
        xs.append(place * width - 1)
        ys.append(so_far / max(total, 1))
    return xs, ys
