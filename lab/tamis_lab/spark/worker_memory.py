"""Memory of the Python workers on this machine: private and shared."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_WORKER = b"pyspark.daemon"


class Memory(NamedTuple):
    """Totals over all workers, in bytes; zero if unknown.

    Attributes:
        workers: Number of workers.
        private: Memory that is not shared.
        shared: Mapped files and shared pages, divided among the processes that share them.
        largest: The largest address space of a worker, which is what Spark limits.
    """

    workers: int
    private: int
    shared: int
    largest: int


def workers_memory() -> Memory:
    """Return the memory of the workers of all sessions on this machine."""
    workers = private = shared = largest = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if _WORKER not in (process / "cmdline").read_bytes():
                continue
            lines = (process / "smaps_rollup").read_text().splitlines()[1:]
            status = (process / "status").read_text()
        except OSError:  # the process has ended
            continue
        sizes = {
            name: int(rest.split()[0]) << 10 for name, _, rest in (x.partition(":") for x in lines)
        }
        if "Pss" not in sizes:  # the process is ending
            continue
        mine = sizes["Private_Clean"] + sizes["Private_Dirty"]
        workers += 1
        private += mine
        shared += sizes["Pss"] - mine
        _, _, peak = status.partition("VmPeak:")
        largest = max(largest, int(peak.split()[0]) << 10)
    return Memory(workers, private, shared, largest)
