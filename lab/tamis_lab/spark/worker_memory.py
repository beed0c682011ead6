"""How much memory Python workers on this machine take: their own, and what they share."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_WORKER = b"pyspark.daemon"


class Memory(NamedTuple):
    """Of all workers together, in bytes; zero where the system does not say.

    Attributes:
        workers: How many there are.
        private: What they have to themselves.
        shared: What is mapped from files or shared, counted once for all that share it.
        largest: The most addresses that one of them had, which is what Spark limits.
    """

    workers: int
    private: int
    shared: int
    largest: int


def workers_memory() -> Memory:
    """The memory of the workers of all sessions on this machine."""
    workers = private = shared = largest = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if _WORKER not in (process / "cmdline").read_bytes():
                continue
            lines = (process / "smaps_rollup").read_text().splitlines()[1:]
            status = (process / "status").read_text()
        except OSError:  # it has ended
            continue
        sizes = {
            name: int(rest.split()[0]) << 10 for name, _, rest in (x.partition(":") for x in lines)
        }
        if "Pss" not in sizes:  # it is ending
            continue
        mine = sizes["Private_Clean"] + sizes["Private_Dirty"]
        workers += 1
        private += mine
        shared += sizes["Pss"] - mine
        _, _, peak = status.partition("VmPeak:")
        largest = max(largest, int(peak.split()[0]) << 10)
    return Memory(workers, private, shared, largest)
