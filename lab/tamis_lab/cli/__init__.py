"""The laboratory's verbs, found by the entry points of the group `tamis.verbs`.

Only light modules are imported here: `tamis --help` does not wait for Arrow.
"""

from __future__ import annotations

import typer

from tamis.cli.shared.exit_codes import Verb

__all__ = ["register_bench", "register_simulate", "register_workload"]


def register_bench(app: typer.Typer) -> None:
    """Add `tamis bench`."""
    from tamis_lab.cli import bench

    app.add_typer(bench.app, name="bench")


def register_simulate(app: typer.Typer) -> None:
    """Add `tamis simulate`."""
    from tamis_lab.cli import simulate

    app.command("simulate", cls=Verb, epilog=simulate.EXAMPLES)(simulate.simulate)


def register_workload(app: typer.Typer) -> None:
    """Add `tamis workload`."""
    from tamis_lab.cli import workload

    app.command("workload", cls=Verb, epilog=workload.EXAMPLES)(workload.workload)
