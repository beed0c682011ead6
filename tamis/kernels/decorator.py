"""The `kernel` decorator: the Numba flags that all kernels share, and a correct compile cache."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])
_KERNELS = Path(__file__).parent


def kernel(function: F) -> F:
    """Compile a function of arrays; type checkers see its own signature.

    The kernel releases the GIL, so that threads can match in parallel. Bounds are not checked: the
    caller validates, the kernel trusts. `NUMBA_DISABLE_JIT=1` runs it as plain Python.
    """
    compiled = numba.njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")(function)
    if hasattr(compiled, "_cache"):  # not with NUMBA_DISABLE_JIT
        _fix_cache(compiled._cache, Path(function.__code__.co_filename))
    return cast("F", compiled)


def _fix_cache(cached: Any, file: Path) -> None:
    """Make Numba's compile cache notice when it is stale.

    The machine code of a kernel includes the kernels that it calls, but Numba checks only the
    kernel's own file: after a change to a called kernel, the old version would keep running. The
    cache also refers to the classes of arguments by name: if one has been renamed, loading fails
    before Numba checks whether the file has changed.
    """
    cached._cache_file._source_stamp = _stamp(_KERNELS)
    if _KERNELS not in file.parents:  # a kernel of the laboratory, or of a test
        cached._cache_file._source_stamp += _stamp(file.parent)
    load = cached.load_overload

    def load_or_flush(*arguments: object) -> object:
        try:
            return load(*arguments)
        except (AttributeError, ImportError, TypeError):
            cached.flush()
            return None

    cached.load_overload = load_or_flush


@cache
def _stamp(tree: Path) -> tuple[tuple[str, int, int], ...]:
    """Return a stamp that changes whenever a file in a tree of kernels does."""
    files = [(str(file.relative_to(tree)), file.stat()) for file in sorted(tree.rglob("*.py"))]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in files)
