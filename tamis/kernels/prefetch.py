"""Prefetch memory: LLVM has an intrinsic for it, Numba does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload


def prefetch(array: Any, index: Any) -> None:
    """Prefetch the cache line of an element, without waiting for it."""


# Kernels use the implementation below; the function above is for NUMBA_DISABLE_JIT=1.


def _fetch(context: Any, array: Any, index: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        name = "llvm.prefetch.p0"
        function = builder.module.globals.get(name) or ir.Function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, number, number, number]), name
        )
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        # A read, of high locality (all cache levels), of data.
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), code


_prefetch: Any = intrinsic(_fetch)


def _overload(array: Any, index: Any) -> Callable[[Any, Any], Any]:
    return lambda array, index: _prefetch(array, index)


overload(prefetch, strict=False)(_overload)
