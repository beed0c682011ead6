"""`tamis bench`: measurements, one verb each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli import console
from tamis.cli.guard import Verb, Verbs

if TYPE_CHECKING:
    from tamis.bench.measure import Rate

app = typer.Typer(cls=Verbs, no_args_is_help=True, rich_markup_mode="rich", help="Measure.")

PARSE_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench parse
  tamis bench parse --count 50000 --predicates 20 --out results/parse.json

Five runs each; the slowest and the fastest are shown beside the median.
"""


@app.command("parse", cls=Verb, epilog=PARSE_EXAMPLES)
def parse(
    count: Annotated[int, typer.Option(min=1, metavar="N", help="How many selectors.")] = 10_000,
    predicates: Annotated[
        int, typer.Option(min=1, metavar="N", help="Predicates in each of them.")
    ] = 8,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the figures there, as JSON.")
    ] = None,
) -> None:
    """How fast selectors are read, rewritten, printed and added, on one core."""
    from tamis.bench.measure import write
    from tamis.bench.parse import measure

    console.note(f"{count} random selectors of {predicates} predicates, five runs each …")
    rates = measure(count, predicates)
    console.stdout().print(_table(rates))
    if out:
        write(out, f"parse: {count} selectors of {predicates} predicates", rates)


ATREE_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench atree
  tamis bench atree maintenance events
  tamis bench atree --full --out results/atree.json

Without --full a tenth or less of the subscriptions of the thesis, in some minutes; with it up to
4,000,000 of them, in an hour. What is compared runs in turns; the slowest and the fastest round are
shown beside the median.
"""


@app.command("atree", cls=Verb, epilog=ATREE_EXAMPLES)
def atree(
    experiments: Annotated[
        list[str] | None, typer.Argument(metavar="[EXPERIMENT]…", help="Which; all if none.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="As many subscriptions as in the thesis.")
    ] = (False),
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the figures there, as JSON.")
    ] = None,
) -> None:
    """The A-Tree on the workload of its thesis: insertion, deletion, memory, the three filters."""
    from tamis.bench.atree import EXPERIMENTS, warm_up
    from tamis.bench.measure import keep
    from tamis.errors import InputError

    for name in experiments or ():
        if name not in EXPERIMENTS:
            raise InputError(f"unknown experiment {name!r}; one of {', '.join(EXPERIMENTS)}")
    warm_up()
    found: dict[str, list[dict[str, object]]] = {}
    for name in experiments or EXPERIMENTS:
        run, usual, whole = EXPERIMENTS[name]
        found[name] = list(run(whole if full else usual, console.note))
        console.stdout().print(f"\n{name}: {_first_line(run)}", style="bold")
        console.stdout().print(_rows(found[name]))
        if out:  # after every experiment: the long ones may be interrupted
            keep(out, "atree", full=full, experiments=found)


def _first_line(described: object) -> str:
    return (described.__doc__ or "").splitlines()[0]


def _rows(rows: list[dict[str, object]]) -> object:
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for heading in rows[0]:
        table.add_column(heading.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(*map(_figure, row.values()))
    return table


def _figure(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
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
