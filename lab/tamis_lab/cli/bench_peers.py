"""The options and the help of `tamis bench peers`."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench peers
  tamis bench peers tamis polars duckdb --workload selective --rules 5000
  tamis bench peers --workload flights --workload bdd2001 --rules 1000
  tamis bench peers --full --out results/peers.json

Each in a process of its own, on one thread; its answers are compared with the oracle. A peer that
is not installed is skipped, and its row says why. pip install 'tamis-lab\\[bench]' brings rule-engine,
Polars and DuckDB, 'tamis\\[spark]' Spark. The drivers of the others are built on first use: a-tree
with cargo, quamina with go, event-ruler and lucene-monitor with mvn and javac. A slow one gets
fewer events, and fewer rules if it takes more than 10 s to take them in.
"""

PeersArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PEER]…",
        help="Which, all if none: tamis, tamis-json, tamis-single, rule-engine, polars, duckdb, "
        "spark, a-tree, quamina, event-ruler, lucene-monitor.",
    ),
]
WorkloadOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="[cyan]equality[/cyan], [cyan]selective[/cyan], [cyan]flights[/cyan] or "
        "[cyan]bdd2001[/cyan]; again for more of them; all if none.",
    ),
]
RulesOption = Annotated[
    list[int] | None,
    typer.Option(min=1, metavar="N", help="How many rules; again for more sizes."),
]
FullOption = Annotated[bool, typer.Option("--full", help="Up to 100,000 rules.")]
