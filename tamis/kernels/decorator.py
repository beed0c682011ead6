"""The one place that knows Numba, and the flags that all kernels share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a function of arrays; callers see the type that it was written with.

    The GIL is released, so blocks of events can be matched in threads. Nothing checks bounds:
    the wrapper validates, the kernel trusts. `NUMBA_DISABLE_JIT=1` runs it as plain Python.
    """
    compiled = numba.njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")(function)
    return cast("F", compiled)
