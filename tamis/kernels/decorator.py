"""The one place that knows Numba, and the flags that all kernels share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])
_KERNELS = Path(__file__).parent


def kernel(function: F) -> F:
    """Compile a function of arrays; callers see the type that it was written with.

    The GIL is released, so blocks of events can be matched in threads. Nothing checks bounds:
    the wrapper validates, the kernel trusts. `NUMBA_DISABLE_JIT=1` runs it as plain Python.
    """
    compiled = numba.njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")(function)
    if hasattr(compiled, "_cache"):  # not with NUMBA_DISABLE_JIT
        _mend(compiled._cache, Path(function.__code__.co_filename))
    return cast("F", compiled)


def _mend(cached: Any, file: Path) -> None:
    """Make a cache of Numba's, which outlives the code that it was made from, notice that.

    A kernel has those that it calls compiled into it, but Numba looks at its own file only: another
    version of a kernel next door would go on running in the old one. And it names the classes of
    arguments: if one has been renamed, it fails to load before it looks whether its file changed.
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
    """What changes whenever a file of a tree of kernels does."""
    found = [(str(file.relative_to(tree)), file.stat()) for file in sorted(tree.rglob("*.py"))]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in found)
