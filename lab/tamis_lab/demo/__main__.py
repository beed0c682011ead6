"""Run the demo: `python -m tamis_lab.demo --help`."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from rich.console import Console

from tamis.errors import TamisError
from tamis_lab.workloads.flights.departures import DEPARTURES

# A few days, so that version 2 of the index has departures to match.
_LEAST_EVENTS = 3000
_WRONG, _BAD_INPUT, _INTERRUPTED = 1, 2, 130


def main() -> int:
    """Run the demo and return the exit code."""
    options = _options()
    errors = Console(stderr=True, highlight=False, markup=False)
    # Py4J logs an interrupt with its whole stack; errors are raised anyway.
    logging.disable(logging.ERROR)
    try:
        from tamis_lab.demo.demo_run import run

        return 0 if run(options.out, options.alerts, options.events) else _WRONG
    except TamisError as error:
        errors.print(f"error: {error}", soft_wrap=True)
        return _BAD_INPUT
    except KeyboardInterrupt:
        errors.print("stopped")
        return _INTERRUPTED


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tamis_lab.demo",
        description="Match a year of departures against many alerts, as a streaming job on Spark.",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("demo-report"), help="folder for the report (%(default)s)"
    )
    parser.add_argument(
        "--alerts", type=int, default=100_000, help="number of alerts (default: 100,000)"
    )
    parser.add_argument(
        "--events", type=int, default=DEPARTURES, help="number of departures (default: all)"
    )
    options = parser.parse_args()
    if options.alerts < 1:
        parser.error("--alerts must be 1 or more")
    if not _LEAST_EVENTS <= options.events <= DEPARTURES:
        parser.error(f"--events must be from {_LEAST_EVENTS:,} to {DEPARTURES:,}")
    return options


if __name__ == "__main__":
    sys.exit(main())
