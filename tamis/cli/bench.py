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
