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

Each peer runs in its own process, on one thread. Its answers are compared with the oracle. A peer
that is not installed is skipped, and its row says why. pip install 'tamis-lab\\[bench]' installs
rule-engine, Polars and DuckDB; 'tamis\\[spark]' installs Spark. The drivers of the others are
built on first use: a-tree with cargo, quamina with go, event-ruler and lucene-monitor with mvn
and javac. A slow peer gets fewer events, and fewer rules if loading them takes more than 10 s.
"""

PeersArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PEER]…",
        help="The peers to run, by default all: tamis, tamis-json, tamis-single, rule-engine, "
        "polars, duckdb, "
        "spark, a-tree, quamina, event-ruler, lucene-monitor.",
    ),
]
WorkloadOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="[cyan]equality[/cyan], [cyan]selective[/cyan], [cyan]flights[/cyan] or "
        "[cyan]bdd2001[/cyan]; may be repeated; by default all.",
    ),
]
RulesOption = Annotated[
    list[int] | None,
    typer.Option(min=1, metavar="N", help="Number of rules; may be repeated."),
]
FullOption = Annotated[bool, typer.Option("--full", help="Use up to 100,000 rules.")]
