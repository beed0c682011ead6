"""The one place that knows Numba, and the flags that all kernels share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a function of arrays; callers see the type that it was written with.

    The GIL is released, so blocks of events can be matched in threads. Nothing checks bounds:
    the wrapper validates, the kernel trusts. `NUMBA_DISABLE_JIT=1` runs it as plain Python.
    """
    compiled = numba.njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")(function)
    if hasattr(compiled, "_cache"):  # not with NUMBA_DISABLE_JIT
        _forgive(compiled._cache)
    return cast("F", compiled)


def _forgive(cache: Any) -> None:
    """Have a cache that cannot be read compile anew, and not fail.

    Numba's cache names the classes of arguments. When a new version of Tamis has renamed one, Numba
    looks for the old name before it looks whether the file has changed.
    """
    load = cache.load_overload

    def load_or_flush(*arguments: object) -> object:
        try:
            return load(*arguments)
        except (AttributeError, ImportError, TypeError):
            cache.flush()
            return None

    cache.load_overload = load_or_flush
