"""Peers that are Python packages: each runs in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

from tamis_lab.harness.fresh_process import run_in_fresh_process
from tamis_lab.peers.peer import Limits, Outcome

# Over this much more than it was given, it is ended.
GRACE = 120.0

ContestFunction = Callable[[str, float, float, int], Outcome]


def process_runner(contest: ContestFunction) -> Callable[[Path, Limits], Outcome]:
    """Run a function of a module in a process of its own; it gets a folder and the limits.

    Raises:
        TimeoutExpired: It took far longer than it was given.
    """

    def run(folder: Path, limits: Limits) -> Outcome:
        patience = limits.build + 4 * limits.match + GRACE
        return cast(Outcome, run_in_fresh_process(contest, str(folder), *limits, limit=patience))

    return run
