"""The memory of processes, as Linux reports it in `/proc`.

Elsewhere these functions return 0, or the peak instead of the current size.
"""

from __future__ import annotations

import resource
from pathlib import Path


def resident_memory() -> int:
    """Return the resident memory of this process in bytes; its peak where there is no `/proc`."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def peak_memory(process: int | str = "self") -> int:
    """Return the peak resident memory of a process in bytes.

    Where the system does not report it, return the current size of this process, and 0 for others.
    `ru_maxrss` is not used on Linux: it starts at the size of the parent process.
    """
    peak = _memory_fields(process, "status").get("VmHWM", 0)
    return resident_memory() if not peak and process == "self" else peak


def proportional_memory(process: int) -> int:
    """Return the memory of a process in bytes, shared pages divided among those that share them.

    Sums over several processes therefore count a shared page once. 0 if the process has ended.
    """
    return _memory_fields(process, "smaps_rollup").get("Pss", 0)


def _memory_fields(process: int | str, file: str) -> dict[str, int]:
    """Read the lines `Name: 123 kB` of a file of a process, in bytes."""
    try:
        lines = Path(f"/proc/{process}/{file}").read_text().splitlines()
    except OSError:
        return {}
    named = (line.partition(":") for line in lines if line.endswith(" kB"))
    return {name: int(rest.split()[0]) << 10 for name, _, rest in named}
