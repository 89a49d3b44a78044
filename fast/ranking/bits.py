"""Comparisons of 64 neighbours at a time, as the bits of one integer.

Where few of many numbers pass a test, one looks at the bits that are set and never at the rest.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDTH = 64
NONE = np.uint64(0)
ONE = np.uint64(1)
EVERY = np.uint64(2**64 - 1)


def _load(context: Any, builder: Any, kind: Any, array: Any, first: Any) -> tuple[Any, Any]:
    """Entries first, ..., first + 63 of a contiguous array, and the type of one."""
    view = context.make_array(kind)(context, builder, array)
    entry = context.get_data_type(kind.dtype)
    start = cgutils.gep(builder, view.data, first)
    vector = builder.load(builder.bitcast(start, ir.VectorType(entry, WIDTH).as_pointer()))
    vector.align = kind.dtype.bitwidth // 8
    return vector, entry


def _splat(builder: Any, entry: Any, value: Any) -> Any:
    """A vector of 64 times one number."""
    undefined = ir.Constant(ir.VectorType(entry, WIDTH), ir.Undefined)
    single = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), None)
    return builder.shuffle_vector(single, undefined, zeros)


@intrinsic
def above(typing_context: Any, array: Any, first: Any, bound: Any) -> Any:
    """Bit i is set where array[first + i] > bound (float64)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, entry = _load(context, builder, signature.args[0], *arguments[:2])
        hits = builder.fcmp_ordered(">", values, _splat(builder, entry, arguments[2]))
        return builder.bitcast(hits, ir.IntType(WIDTH))

    return types.uint64(array, types.intp, types.float64), generate


@intrinsic
def within(typing_context: Any, array: Any, first: Any, limit: Any) -> Any:
    """Bit i is set where -limit <= array[first + i] <= limit (float64); not for nan."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, entry = _load(context, builder, signature.args[0], *arguments[:2])
        low = builder.fcmp_ordered(">=", values, _splat(builder, entry, builder.fneg(arguments[2])))
        high = builder.fcmp_ordered("<=", values, _splat(builder, entry, arguments[2]))
        return builder.bitcast(builder.and_(low, high), ir.IntType(WIDTH))

    return types.uint64(array, types.intp, types.float64), generate


@intrinsic
def zero(typing_context: Any, array: Any, first: Any) -> Any:
    """Bit i is set where array[first + i] == 0 (uint8)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, _ = _load(context, builder, signature.args[0], *arguments)
        hits = builder.icmp_unsigned("==", values, ir.Constant(values.type, None))
        return builder.bitcast(hits, ir.IntType(WIDTH))

    return types.uint64(array, types.intp), generate


@intrinsic
def lowest(typing_context: Any, bits: Any) -> Any:
    """Place of the lowest set bit; ``bits`` is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def number(typing_context: Any, bits: Any) -> Any:
    """How many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate
