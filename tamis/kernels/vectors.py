"""Bitwise operations on masks of events, eight words at a time.

Numba vectorises loops over rows of an array only behind checks (do two rows overlap? is an index
negative?) that take as long as the rows, and every view of a row costs an atomic reference count.
So these few loops are written in LLVM IR. Arrays are one-dimensional, and `n` is a number of groups
of eight words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

WORDS = 8

_LONG = ir.IntType(64)
_GROUP = ir.VectorType(_LONG, WORDS)


def _slice(array: Any, at: Any, n: Any) -> Any:
    return array[int(at) : int(at) + WORDS * int(n)]


def and_into(target: Any, at: Any, source: Any, place: Any, n: Any) -> Any:
    """AND the source into the target; return 0 if no bit is left."""
    _slice(target, at, n)[:] &= _slice(source, place, n)
    return np.bitwise_or.reduce(_slice(target, at, n))


def or_into(target: Any, at: Any, source: Any, place: Any, everyone: Any, n: Any) -> Any:
    """OR the source into the target; return 0 if all bits of `everyone` are set then."""
    _slice(target, at, n)[:] |= _slice(source, place, n)
    return np.bitwise_or.reduce(_slice(target, at, n) ^ _slice(everyone, 0, n))


def copy_into(target: Any, at: Any, source: Any, place: Any, n: Any) -> None:
    """Copy the source into the target."""
    _slice(target, at, n)[:] = _slice(source, place, n)


def xor_of(target: Any, at: Any, source: Any, this: Any, that: Any, n: Any) -> None:
    """Write the XOR of two ranges of the source into the target."""
    _slice(target, at, n)[:] = _slice(source, this, n) ^ _slice(source, that, n)


def xor_into(target: Any, at: Any, source: Any, place: Any, n: Any) -> None:
    """XOR the source into the target."""
    _slice(target, at, n)[:] ^= _slice(source, place, n)


def count_ones(source: Any, place: Any, n: Any) -> int:
    """Return the number of set bits."""
    return int(np.bitwise_count(_slice(source, place, n)).sum())


# Kernels use the implementations below; the functions above are for NUMBA_DISABLE_JIT=1.


class _Loop:
    """A loop over groups, inside an intrinsic."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        self._context = context
        self._types = signature.args
        self._arguments = arguments

    def data(self, number: int) -> Any:
        """Return the address of the first element of an array argument."""
        array = self._context.make_array(self._types[number])
        data = array(self._context, self.builder, self._arguments[number]).data
        return data

    def start(self, array: int, place: int) -> Any:
        """Return the address of the element of an array argument that another argument gives."""
        return self.builder.gep(self.data(array), [self._arguments[place]])

    def group(self, begin: Any, index: Any) -> Any:
        """Return the address of a group."""
        at = self.builder.gep(begin, [self.builder.mul(index, _LONG(WORDS))])
        return self.builder.bitcast(at, _GROUP.as_pointer())

    def load(self, begin: Any, index: Any) -> Any:
        """Load a group."""
        return self.builder.load(self.group(begin, index), align=8)

    def store(self, begin: Any, index: Any, group: Any) -> None:
        """Store a group."""
        self.builder.store(group, self.group(begin, index), align=8)

    def run(self, step: Callable[[Any], Any], fold: str | None) -> Any:
        """Run a step for every group; with `fold`, combine the groups that the steps return."""
        builder = self.builder
        total = cgutils.alloca_once(builder, _GROUP)  # type: ignore[no-untyped-call]
        builder.store(ir.Constant(_GROUP, [0] * WORDS), total, align=8)
        with cgutils.for_range(builder, self._arguments[-1]) as loop:
            result = step(loop.index)
            if fold is not None:
                joined = getattr(builder, fold)(builder.load(total, align=8), result)
                builder.store(joined, total, align=8)
        if fold is None:
            return self._context.get_dummy_value()
        group = builder.load(total, align=8)
        result = builder.extract_element(group, ir.IntType(32)(0))
        for lane in range(1, WORDS):
            one = builder.extract_element(group, ir.IntType(32)(lane))
            result = getattr(builder, fold)(result, one)
        return result


def _and(loop: _Loop) -> Any:
    target, source = loop.start(0, 1), loop.start(2, 3)

    def step(index: Any) -> Any:
        joined = loop.builder.and_(loop.load(target, index), loop.load(source, index))
        loop.store(target, index, joined)
        return joined

    return loop.run(step, "or_")


def _or(loop: _Loop) -> Any:
    target, source, everyone = loop.start(0, 1), loop.start(2, 3), loop.data(4)

    def step(index: Any) -> Any:
        joined = loop.builder.or_(loop.load(target, index), loop.load(source, index))
        loop.store(target, index, joined)
        return loop.builder.xor(joined, loop.load(everyone, index))

    return loop.run(step, "or_")


def _copy(loop: _Loop) -> Any:
    target, source = loop.start(0, 1), loop.start(2, 3)
    return loop.run(lambda index: loop.store(target, index, loop.load(source, index)), None)


def _difference(loop: _Loop) -> Any:
    target, this, that = loop.start(0, 1), loop.start(2, 3), loop.start(2, 4)

    def step(index: Any) -> None:
        loop.store(target, index, loop.builder.xor(loop.load(this, index), loop.load(that, index)))

    return loop.run(step, None)


def _xor(loop: _Loop) -> Any:
    target, source = loop.start(0, 1), loop.start(2, 3)

    def step(index: Any) -> None:
        loop.store(
            target, index, loop.builder.xor(loop.load(target, index), loop.load(source, index))
        )

    return loop.run(step, None)


def _ones(loop: _Loop) -> Any:
    source, module = loop.start(0, 1), loop.builder.module
    # llvmlite's `ctpop` does not take vectors.
    name = "llvm.ctpop.v8i64"
    ones = module.globals.get(name) or ir.Function(module, ir.FunctionType(_GROUP, [_GROUP]), name)
    return loop.run(lambda index: loop.builder.call(ones, [loop.load(source, index)]), "add")


def _make_intrinsic(parameters: int, result: Any, write: Callable[[_Loop], Any]) -> Any:
    """Return an intrinsic with this many parameters."""

    def type_call(context: Any, *arguments: Any) -> Any:
        numbers = [a if isinstance(a, types.Array) else types.int64 for a in arguments]

        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return write(_Loop(context, builder, signature, values))

        return result(*numbers), code

    shapes: dict[int, Any] = {
        3: lambda context, a, b, c: type_call(context, a, b, c),
        5: lambda context, a, b, c, d, e: type_call(context, a, b, c, d, e),
        6: lambda context, a, b, c, d, e, f: type_call(context, a, b, c, d, e, f),
    }
    return intrinsic(shapes[parameters])


_and_into: Any = _make_intrinsic(5, types.uint64, _and)
_or_into: Any = _make_intrinsic(6, types.uint64, _or)
_copy_into: Any = _make_intrinsic(5, types.void, _copy)
_xor_of: Any = _make_intrinsic(6, types.void, _difference)
_xor_into: Any = _make_intrinsic(5, types.void, _xor)
_count_ones: Any = _make_intrinsic(3, types.int64, _ones)

# Not strict, as that requires annotated lambdas.
overload(and_into, strict=False)(
    lambda target, at, source, place, n: (
        lambda target, at, source, place, n: _and_into(target, at, source, place, n)
    )
)
overload(or_into, strict=False)(
    lambda target, at, source, place, everyone, n: (
        lambda target, at, source, place, everyone, n: _or_into(
            target, at, source, place, everyone, n
        )
    )
)
overload(copy_into, strict=False)(
    lambda target, at, source, place, n: (
        lambda target, at, source, place, n: _copy_into(target, at, source, place, n)
    )
)
overload(xor_of, strict=False)(
    lambda target, at, source, this, that, n: (
        lambda target, at, source, this, that, n: _xor_of(target, at, source, this, that, n)
    )
)
overload(xor_into, strict=False)(
    lambda target, at, source, place, n: (
        lambda target, at, source, place, n: _xor_into(target, at, source, place, n)
    )
)
overload(count_ones, strict=False)(
    lambda source, place, n: lambda source, place, n: _count_ones(source, place, n)
)
