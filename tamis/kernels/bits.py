"""Bit counts of a word as single instructions: LLVM has intrinsics for them, Numba does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload


def popcount(word: Any) -> int:
    """Return the number of set bits of a 64-bit word."""
    return int(word).bit_count()


def trailing_zeros(word: Any) -> int:
    """Return the position of the lowest set bit; 64 if none is set."""
    word = int(word)
    return (word & -word).bit_length() - 1 if word else 64


# Kernels use the implementations below; the functions above are for NUMBA_DISABLE_JIT=1.


def _count_ones(context: Any, word: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), code


def _count_zeros(context: Any, word: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        defined_for_zero = context.get_constant(types.boolean, False)
        return builder.cttz(arguments[0], defined_for_zero)

    return types.int64(types.uint64), code


_ones: Any = intrinsic(_count_ones)
_zeros: Any = intrinsic(_count_zeros)


def _popcount(word: Any) -> Callable[[Any], Any]:
    return lambda word: _ones(np.uint64(word))


def _trailing_zeros(word: Any) -> Callable[[Any], Any]:
    return lambda word: _zeros(np.uint64(word))


# Not strict, as that requires annotated lambdas.
overload(popcount, strict=False)(_popcount)
overload(trailing_zeros, strict=False)(_trailing_zeros)
