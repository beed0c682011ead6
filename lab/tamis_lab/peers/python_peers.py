"""Peers that are Python packages: each runs in its own process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

from tamis_lab.harness.fresh_process import run_in_fresh_process
from tamis_lab.peers.peer import Limits, Outcome

# Seconds beyond its limits after which a peer is killed.
GRACE = 120.0

ContestFunction = Callable[[str, float, float, int], Outcome]


def process_runner(contest: ContestFunction) -> Callable[[Path, Limits], Outcome]:
    """Return a function that runs `contest` in its own process, with a folder and limits.

    Raises:
        TimeoutExpired: It took far longer than its limits.
    """

    def run(folder: Path, limits: Limits) -> Outcome:
        patience = limits.build + 4 * limits.match + GRACE
        return cast(Outcome, run_in_fresh_process(contest, str(folder), *limits, limit=patience))

    return run
