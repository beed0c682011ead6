"""`tamis simulate`: networks of brokers on Spark, under four routing strategies."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli.shared import console
from tamis.cli.shared.options import QuietOption
from tamis.cli.shared.spark_session import (
    ConfOption,
    MasterOption,
    show_spark_progress,
    spark_session,
)

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLES = """\
[bold]Examples[/bold]
  tamis simulate                              50 brokers, all networks; a minute or two
  tamis simulate --topology line --brokers 200 --m 1024
  tamis simulate --scale large --out results/simulate.jsonl --report docs/simulation
  tamis simulate --strategies edge,covering --events 100000 --seed 7
  tamis simulate --scale large --from results/simulate.jsonl --report page

Counts are exact: every message of every broker is counted. --out writes JSON lines, one for each
network and strategy. --report writes a page with plots, which need Matplotlib.
"""


_MEMORY = "spark.driver.memory=4g"  # the tables of a thousand brokers are merged in the driver


class SimulationScale(StrEnum):
    """The size of a simulation."""

    small = "small"
    large = "large"


def simulate(
    scale: Annotated[
        SimulationScale,
        typer.Option(
            metavar="small|large",
            help="50 brokers, 20,000 subscriptions and events; or 1,000, and a million of each.",
        ),
    ] = SimulationScale.small,
    topology: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="[cyan]line[/cyan], [cyan]star[/cyan], [cyan]balanced[/cyan], "
            "[cyan]random[/cyan], several separated by commas, or [cyan]all[/cyan].",
        ),
    ] = "all",
    strategies: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="[cyan]flooding[/cyan], [cyan]siena[/cyan], [cyan]covering[/cyan], "
            "[cyan]edge[/cyan], several separated by commas, or [cyan]all[/cyan].",
        ),
    ] = "all",
    brokers: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of brokers.", show_default=False),
    ] = None,
    subscriptions: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of subscriptions.", show_default=False),
    ] = None,
    events: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of events.", show_default=False)
    ] = None,
    m: Annotated[int, typer.Option(min=1, metavar="BITS", help="Bits of a Bloom filter.")] = 16384,
    k: Annotated[
        int,
        typer.Option(min=1, max=64, metavar="N", help="Bits that a predicate sets."),
    ] = 4,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="The same seed gives the same figures.")
    ] = 2008,
    sweep: Annotated[
        bool,
        typer.Option(
            "--sweep/--no-sweep",
            help="Also try other filter sizes, with the first 20,000 events.",
        ),
    ] = True,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the figures there as JSON lines."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a report into this folder.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Do not simulate: read a run of this scale from a file that --out has written.",
            show_default=False,
        ),
    ] = None,
    scratch: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for intermediate files; every worker must be able to read it.",
            show_default=False,
        ),
    ] = None,
    master: MasterOption = None,
    conf: ConfOption = None,
    quiet: QuietOption = False,
) -> None:
    """Simulate networks of brokers on Spark: traffic, hops, evaluations, tables, false positives.

    Each event travels hop by hop from the broker that publishes it. One of four routing strategies
    decides where it goes.
    """
    from tamis.bloom.hashing import Shape
    from tamis_lab.harness.plots import require_matplotlib
    from tamis_lab.simulation.sizes import SCALES

    if report is not None:
        require_matplotlib("--report")
    if results is not None:
        _show_run(results, scale.value, report)
        return
    usual = SCALES[scale.value]
    asked: dict[str, Any] = {"brokers": brokers, "subscriptions": subscriptions, "events": events}
    others = {name: value for name, value in asked.items() if value is not None}
    sizes = replace(
        usual,
        **others,
        topologies=usual.topologies if topology == "all" else _split_names(topology),
        strategies=usual.strategies if strategies == "all" else _split_names(strategies),
        shape=Shape(m, k),
        sweep=usual.sweep if sweep else (),
        seed=seed,
    )
    memory = [] if any(c.startswith("spark.driver.memory=") for c in conf or ()) else [_MEMORY]
    with spark_session(master, [*(conf or []), *memory]) as spark:
        from tamis_lab.simulation.simulation_run import run_simulation, write

        @contextmanager
        def step(what: str) -> Iterator[None]:
            begun = time.perf_counter()
            with show_spark_progress(spark, what, quiet):
                yield
            if not quiet:
                console.note(f"{what}: {time.perf_counter() - begun:.1f} s")

        name = scale.value if sizes == usual else ""
        lines = run_simulation(spark, sizes, scale=name, scratch=scratch, step=step)
    console.stdout().print(_table(lines))
    if out is not None:
        write(out, lines)
        console.note(f"written: {out}")
    if report is not None:
        _write_report(lines if out is None else _read_lines(out), lines[0]["run"], report)


def _show_run(results: Path, run: str, report: Path | None) -> None:
    """Print a run from a file of results."""
    lines = _read_lines(results)
    console.stdout().print(_table([line for line in lines if line["run"] == run]))
    if report is not None:
        _write_report(lines, run, report)


def _read_lines(file: Path) -> list[dict[str, Any]]:
    from tamis.errors import InputError
    from tamis_lab.simulation.simulation_run import read

    try:
        return read(file)
    except OSError as error:
        raise InputError(error.strerror or str(error), str(file)) from error


def _write_report(lines: list[dict[str, Any]], run: str, folder: Path) -> None:
    from tamis_lab.simulation.simulation_report import write

    console.note(f"written: {write(lines, run, folder)}")


def _split_names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _table(lines: list[dict[str, Any]]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from tamis_lab.harness.figure_text import number

    table = Table(
        box=SIMPLE_HEAD,
        header_style="bold",
        padding=(0, 1, 0, 0),
        caption="per event; interests per broker",
        caption_justify="left",
    )
    table.add_column("network", no_wrap=True)
    table.add_column("strategy", no_wrap=True)
    columns: dict[str, Callable[[dict[str, Any]], float]] = {
        "messages": lambda line: line["messages"],
        "wasted": lambda line: line["wasted"],
        "evaluations": lambda line: line["evaluations"],
        "hops": lambda line: line["delivery_hops"],
        "bytes": lambda line: line["bytes"] + line["filter_bytes"],
        "interests": lambda line: line["table"],
    }
    for title in columns:
        table.add_column(title, justify="right", no_wrap=True)
    for line in lines:
        if line["kind"] == "strategy":
            cells = [number(figure(line)) for figure in columns.values()]
            table.add_row(line["network"], line["strategy"], *cells)
    return table
