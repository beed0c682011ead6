"""`tamis bench`: measurements, one verb each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.shared import console
from tamis.cli.shared.exit_codes import Verb, Verbs
from tamis_lab.cli import bench_papers, bench_peers

if TYPE_CHECKING:
    from tamis_lab.harness.measure import Experiments, Rate

app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Run benchmarks: the engines, Spark, the brokers, the papers' figures, other tools.",
)

ExperimentsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[EXPERIMENT]…", help="The experiments to run; by default all."),
]
OutOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the figures to this file as JSON.")
]

PlotsOption = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Draw plots into this folder as SVG.")
]

PARSE_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench parse
  tamis bench parse --count 50000 --predicates 20 --out results/parse.json

Each step runs five times. The table shows the median, the slowest and the fastest run.
"""


@app.command("parse", cls=Verb, epilog=PARSE_EXAMPLES)
def parse(
    count: Annotated[int, typer.Option(min=1, metavar="N", help="Number of selectors.")] = 10_000,
    predicates: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of predicates in each selector.")
    ] = 8,
    out: OutOption = None,
) -> None:
    """Measure how fast selectors are parsed, rewritten, printed and added, on one core."""
    from tamis_lab.bench.parse import measure
    from tamis_lab.harness.measure import write

    console.note(f"{count} random selectors of {predicates} predicates, five runs each …")
    rates = measure(count, predicates)
    console.stdout().print(_table(rates))
    if out:
        write(out, f"parse: {count} selectors of {predicates} predicates", rates)


ATREE_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench atree
  tamis bench atree maintenance events
  tamis bench atree baselines            counting, Gryphon and all other engines
  tamis bench atree --full --out results/atree.json

By default a tenth or less of the subscriptions of the thesis, which takes some minutes. With
--full up to 4,000,000, which takes an hour. Variants run in turns, round by round; the table
shows the median, the slowest and the fastest round.
"""


@app.command("atree", cls=Verb, epilog=ATREE_EXAMPLES)
def atree(
    experiments: ExperimentsArgument = None,
    full: Annotated[
        bool, typer.Option("--full", help="Use as many subscriptions as the thesis.")
    ] = (False),
    out: OutOption = None,
) -> None:
    """Measure the A-Tree on the workload of its thesis: insertion, deletion, memory, filters."""
    from tamis_lab.bench.atree import EXPERIMENTS, warm_up

    _run("atree", EXPERIMENTS, experiments, full, out, warm_up)


BDD_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench bdd
  tamis bench bdd nodes orders
  tamis bench bdd --full --out results/bdd.json --plots plots

Prints the tables of the BDD paper with the paper's figures beside ours, and how ours grow. By
default fewer than a tenth of the paper's 100,000 queries, which takes a minute; with --full about
ten minutes. Needs CUDD: pip install 'tamis\\[bdd]'.
"""


@app.command("bdd", cls=Verb, epilog=BDD_EXAMPLES)
def bdd(
    experiments: ExperimentsArgument = None,
    full: Annotated[bool, typer.Option("--full", help="Use as many queries as the paper.")] = False,
    out: OutOption = None,
    plots: PlotsOption = None,
) -> None:
    """Measure decision diagrams on the queries of their paper: nodes, restriction, time, order."""
    from tamis_lab.bench import bdd
    from tamis_lab.harness.measure import keep
    from tamis_lab.harness.plots import require_matplotlib

    if plots:
        require_matplotlib("--plots")
    found = _run("bdd", bdd.EXPERIMENTS, experiments, full, out, bdd.warm_up)
    lines = bdd.growth_lines(found)
    if out:
        keep(out, "bdd", full=full, experiments=found, shapes=lines)
    for line in lines:
        console.stdout().print(line, highlight=False, soft_wrap=True)
    if plots:
        console.note(f"written: {bdd.draw(found, plots)}")


BLOCK_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench block
  tamis bench block selective broad
  tamis bench block --full --out results/block.json
  tamis bench block latency --engine atree
  tamis bench block selective --engine counting

All engines get the same subscriptions and run in turns. A slow engine gets fewer events; its row
says so. An engine that cannot express the subscriptions is left out. With --full up to 1,000,000
subscriptions.
"""


@app.command("block", cls=Verb, epilog=BLOCK_EXAMPLES)
def block(
    experiments: ExperimentsArgument = None,
    full: Annotated[
        bool, typer.Option("--full", help="Use up to a million subscriptions.")
    ] = False,
    out: OutOption = None,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="The engine to compare with all others.")
    ] = "block",
) -> None:
    """Compare the block engine with all others: throughput, latency, changes, memory, start."""
    from tamis_lab.bench import block

    _run("block", block.experiments(engine), experiments, full, out)


BLOOM_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench bloom
  tamis bench bloom routing --plots plots
  tamis bench bloom --full --out results/bloom.json --plots results/bloom

Reproduces Figures 4 to 8 of the paper. By default with a tenth or a fifth of its subscriptions,
which takes two minutes; with --full all 30,000, which takes up to an hour: the posets that serve
as baselines are slow to fill.
"""


@app.command("bloom", cls=Verb, epilog=BLOOM_EXAMPLES)
def bloom(
    experiments: ExperimentsArgument = None,
    full: Annotated[
        bool, typer.Option("--full", help="Use as many subscriptions as the paper.")
    ] = False,
    out: OutOption = None,
    plots: PlotsOption = None,
) -> None:
    """Compare Bloom filter routing with Siena's poset and the forest; count false positives."""
    from tamis_lab.bench.bloom import EXPERIMENTS, warm_up
    from tamis_lab.bench.bloom_plots import draw
    from tamis_lab.harness.plots import require_matplotlib

    if plots:
        require_matplotlib("--plots")
    found = _run("bloom", EXPERIMENTS, experiments, full, out, warm_up)
    if plots:
        for file in draw(found, plots):
            console.note(f"written: {file}")


LINT_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench lint
  tamis bench lint flights
  tamis bench lint --full --out results/lint.json

Each workload runs in its own process. With --full 100,000 subscriptions, but 5,000 of bdd2001.
"""


@app.command("lint", cls=Verb, epilog=LINT_EXAMPLES)
def lint(
    experiments: ExperimentsArgument = None,
    full: Annotated[bool, typer.Option("--full", help="Use 100,000 subscriptions.")] = False,
    out: OutOption = None,
) -> None:
    """Measure the time and memory that `tamis lint` needs on the workloads."""
    from tamis_lab.bench.lint import EXPERIMENTS

    _run("lint", EXPERIMENTS, experiments, full, out)


SPARK_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench spark
  tamis bench spark match compile
  tamis bench spark --full --out results/spark.json

Reads and writes Parquet, on two cores. With --full 5,000,000 events and up to 1,000,000
subscriptions.
"""


@app.command("spark", cls=Verb, epilog=SPARK_EXAMPLES)
def spark(
    experiments: ExperimentsArgument = None,
    full: Annotated[
        bool, typer.Option("--full", help="Use up to a million subscriptions.")
    ] = False,
    out: OutOption = None,
    plots: PlotsOption = None,
) -> None:
    """Measure matching on Spark beside plain Spark SQL: throughput, compilation, growth."""
    from tamis_lab.bench.growth import draw
    from tamis_lab.bench.spark import EXPERIMENTS
    from tamis_lab.harness.plots import require_matplotlib

    if plots:
        require_matplotlib("--plots")
    found = _run("spark", EXPERIMENTS, experiments, full, out)
    if plots and "growth" in found:
        for fit in draw(found["growth"], plots):
            console.stdout().print(fit)


@app.command("papers", cls=Verb, epilog=bench_papers.PAPERS_EXAMPLES)
def papers(
    figures: bench_papers.FiguresArgument = None,
    scale: bench_papers.ScaleOption = "small",
    out: bench_papers.KeptOption = Path("papers.jsonl"),
    report: bench_papers.ReportOption = None,
    spark: bench_papers.SparkOption = 0,
    parquet: bench_papers.ParquetOption = None,
) -> None:
    """Measure every table and figure of the three papers."""
    from tamis_lab.harness.plots import require_matplotlib

    if report:
        require_matplotlib("--report")
    bench_papers.papers(figures, scale, out, report, spark, parquet)


@app.command("report", cls=Verb, epilog=bench_papers.REPORT_EXAMPLES)
def report(
    results: bench_papers.ResultsArgument,
    out: bench_papers.ReportFolderOption = Path("report"),
    plots: bench_papers.PlotsFlag = True,
) -> None:
    """Write a report from the results of `papers`: plots, and whether each claim holds."""
    from tamis_lab.harness.plots import require_matplotlib

    if plots:
        require_matplotlib("--plots", otherwise="pass --no-plots")
    bench_papers.write_report(results, out, plots)


@app.command("peers", cls=Verb, epilog=bench_peers.EXAMPLES)
def peers(
    peers: bench_peers.PeersArgument = None,
    workload: bench_peers.WorkloadOption = None,
    rules: bench_peers.RulesOption = None,
    full: bench_peers.FullOption = False,
    out: OutOption = None,
) -> None:
    """Run the same rules and events through other tools, and check their answers."""
    from tamis_lab.peers.experiments import experiments

    _run("peers", experiments(peers, workload, rules, full), None, full, out)


BROKER_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench broker
  tamis bench broker --out results/broker.json

Starts a NATS server, a broker, and a process that publishes and receives. The baseline is the
same fan-out without matching: the receivers of each event are known in advance.
"""


@app.command("broker", cls=Verb, epilog=BROKER_EXAMPLES)
def broker(
    experiments: ExperimentsArgument = None,
    out: OutOption = None,
) -> None:
    """Measure a broker end to end: throughput and latency, beside plain fan-out on NATS."""
    from tamis_lab.bench.broker import EXPERIMENTS

    _run("broker", EXPERIMENTS, experiments, True, out)


OVERLAY_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench overlay
  tamis bench overlay line
  tamis bench overlay --full --out results/overlay.json

line: the work of the routers in a line of eight brokers, hop by hop, in one process without NATS;
with --full 10,000 subscriptions instead of 1,000. nodes: three nodes on NATS, throughput and
latency over zero, one and two links; with --full 5,000 events instead of 1,000. See
docs/guides/overlay.md.
"""


@app.command("overlay", cls=Verb, epilog=OVERLAY_EXAMPLES)
def overlay(
    experiments: ExperimentsArgument = None,
    full: Annotated[
        bool, typer.Option("--full", help="Use more subscriptions and events.")
    ] = False,
    out: OutOption = None,
) -> None:
    """Measure routing between brokers: first and later hops by strategy, and links on NATS."""
    from tamis_lab.bench import overlay, overlay_nats

    known = {**overlay.EXPERIMENTS, **overlay_nats.EXPERIMENTS}
    _run("overlay", known, experiments, full, out)


def _run(
    bench: str,
    known: Experiments,
    asked: list[str] | None,
    full: bool,
    out: Path | None,
    warm_up: Callable[[], None] = lambda: None,
) -> dict[str, list[dict[str, object]]]:
    """Run experiments, print their rows and write them to a file."""
    from tamis_lab.harness.measure import keep
    from tamis_lab.workloads.known_names import check_known

    check_known("experiment", asked or (), known)
    warm_up()
    found: dict[str, list[dict[str, object]]] = {}
    for name in asked or known:
        run, usual, whole = known[name]
        found[name] = []
        for row in run(whole if full else usual, console.note):
            found[name].append(row)
            if out:  # after every row: a long run may be interrupted
                keep(out, bench, full=full, experiments=found)
        console.stdout().print(f"\n{name}: {_first_line(run)}", style="bold")
        wide = console.stdout()
        wide.width = 1000  # never truncate a figure
        wide.print(_rows(found[name]))
    return found


def _first_line(described: object) -> str:
    return (described.__doc__ or "").splitlines()[0]


def _rows(rows: list[dict[str, object]]) -> object:
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for heading in rows[0]:
        table.add_column(heading.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(*map(_cell, row.values()))
    return table


def _cell(value: object) -> str:
    from tamis_lab.harness.figure_text import number

    if isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _table(rates: list[Rate]) -> object:
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    table.add_column("")
    for heading in ("per second (median)", "slowest run", "fastest run"):
        table.add_column(heading, justify="right")
    for rate in rates:
        figures = (rate.median, rate.slowest, rate.fastest)
        table.add_row(rate.name, *(f"{figure:,.0f}" for figure in figures))
    return table
