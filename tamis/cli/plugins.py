"""Verbs from other distributions: entry points of the group `tamis.verbs`.

An entry point is a function that adds its verb to the command line. The laboratory's verbs are
known by name, so that without it they say how to install it.
"""

from __future__ import annotations

from importlib.metadata import entry_points

import typer

from tamis.cli.shared.exit_codes import Verb
from tamis.errors import InputError

GROUP = "tamis.verbs"
_LAB = {
    "bench": "Measure speed and memory.",
    "simulate": "Simulate networks of brokers on Spark.",
    "workload": "Write the subscriptions and events of a workload to files.",
}


def register_verbs(app: typer.Typer) -> None:
    """Add the verbs of all installed distributions."""
    found = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    for entry in found:
        entry.load()(app)
    for name in _LAB.keys() - {entry.name for entry in found}:
        _register_missing(app, name)


def _register_missing(app: typer.Typer, name: str) -> None:
    @app.command(
        name,
        cls=Verb,
        help=f"{_LAB[name]} Needs tamis-lab, which is not installed.",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        hidden=True,
    )
    def explain_missing() -> None:
        raise InputError(
            f"tamis {name} is part of tamis-lab, which is not installed: pip install tamis-lab"
        )
