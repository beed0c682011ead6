"""The laboratory's verbs, found through the entry points of the group `tamis.verbs`.

Imports are local: `tamis --help` must not wait for Arrow, and `tamis.cli` calls these functions
while it is being imported itself.
"""

from __future__ import annotations

import typer

__all__ = ["register_bench", "register_simulate", "register_workload"]


def register_bench(app: typer.Typer) -> None:
    """Add `tamis bench`."""
    from tamis_lab.cli import bench

    app.add_typer(bench.app, name="bench")


def register_simulate(app: typer.Typer) -> None:
    """Add `tamis simulate`."""
    from tamis.cli.shared.exit_codes import Verb
    from tamis_lab.cli import simulate

    app.command("simulate", cls=Verb, epilog=simulate.EXAMPLES)(simulate.simulate)


def register_workload(app: typer.Typer) -> None:
    """Add `tamis workload`."""
    from tamis.cli.shared.exit_codes import Verb
    from tamis_lab.cli import workload

    app.command("workload", cls=Verb, epilog=workload.EXAMPLES)(workload.workload)


# Last, and only once the functions exist: `tamis.cli` registers the verbs on import, so it must be
# complete before a verb's module imports parts of it.
import tamis.cli  # noqa: E402, F401
