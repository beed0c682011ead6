"""The experiments of `tamis bench peers`: one for each workload."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from tamis_lab.harness.measure import Experiments, Report, Row
from tamis_lab.peers.contest import contests
from tamis_lab.peers.peer_catalogue import PEERS
from tamis_lab.peers.peer_workload import WORKLOADS
from tamis_lab.workloads.known_names import check_known

SIZES, FULL_SIZES = (1_000, 10_000), (1_000, 10_000, 100_000)


def experiments(
    peers: Collection[str] | None = None,
    workloads: Sequence[str] | None = None,
    rules: Collection[int] | None = None,
    full: bool = False,
) -> Experiments:
    """Return experiments by workload, with these peers (default: all) and numbers of rules.

    Raises:
        InputError: A peer or a workload is unknown.
    """
    check_known("peer", peers or (), PEERS)
    check_known("workload", workloads or (), WORKLOADS)
    chosen = [name for name in PEERS if name in (peers or PEERS)]
    sizes = sorted(set(rules or (FULL_SIZES if full else SIZES)))
    return {
        name: (_experiment(name, chosen, sizes), sizes[-1], sizes[-1])
        for name in workloads or WORKLOADS
    }


def _experiment(
    workload: str, peers: list[str], sizes: list[int]
) -> Callable[[int, Report], Iterator[Row]]:
    def run(largest: int, say: Report) -> Iterator[Row]:
        return contests(peers, workload, [size for size in sizes if size <= largest], say)

    run.__doc__ = WORKLOADS[workload].__doc__
    return run
