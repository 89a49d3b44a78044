"""Choices between two numbers without a branch, in the form that LLVM turns into SIMD.

A conditional expression in a numba function becomes a branch, whose misprediction costs more than
a short loop, and keeps maxima and masked sums from being vectorised. No argument may be nan.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

_FLAGS = ("nnan", "nsz")
_PAIR = types.float64(types.float64, types.float64)


@intrinsic
def larger(typing_context: Any, x: Any, y: Any) -> Any:
    """max(x, y)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, y = arguments
        return builder.select(builder.fcmp_ordered(">", x, y, flags=_FLAGS), x, y, flags=_FLAGS)

    return _PAIR, generate


@intrinsic
def smaller(typing_context: Any, x: Any, y: Any) -> Any:
    """min(x, y)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, y = arguments
        return builder.select(builder.fcmp_ordered("<", x, y, flags=_FLAGS), x, y, flags=_FLAGS)

    return _PAIR, generate


@intrinsic
def largest_or_nan(typing_context: Any, x: Any, y: Any) -> Any:
    """max(x, y) of two numbers of one dtype, nan if one of them is."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, y = arguments
        more, known = builder.fcmp_unordered(">", x, y), builder.fcmp_ordered("ord", y, y)
        return builder.select(builder.and_(more, known), x, y)

    return y(y, y), generate


@intrinsic
def count_if(typing_context: Any, count: Any, condition: Any) -> Any:
    """Return count + condition in 32 bits, of which a vector holds twice as many as of numba's 64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.add(arguments[0], builder.zext(arguments[1], ir.IntType(32)))

    return types.int32(types.int32, types.boolean), generate


@intrinsic
def choose(typing_context: Any, condition: Any, x: Any, y: Any) -> Any:
    """Return x if condition, else y."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        condition, x, y = arguments
        return builder.select(condition, x, y, flags=_FLAGS)

    return types.float64(types.boolean, types.float64, types.float64), generate


@intrinsic
def plus(typing_context: Any, total: Any, term: Any) -> Any:
    """Return total + term, for sums in any order: the only operation that may be reordered."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fadd(*arguments, flags=("reassoc", "nsz"))

    return _PAIR, generate


@intrinsic
def fused(typing_context: Any, x: Any, y: Any, z: Any) -> Any:
    """Return x * y + z, in one operation where the processor has it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, y, z = arguments
        return builder.fadd(builder.fmul(x, y, flags=("contract",)), z, flags=("contract",))

    return types.float64(types.float64, types.float64, types.float64), generate


@intrinsic
def bits(typing_context: Any, x: Any) -> Any:
    """Return the pattern of a double as an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def from_bits(typing_context: Any, n: Any) -> Any:
    """Return the double whose pattern is n."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def single(typing_context: Any, n: Any) -> Any:
    """Return the float32 whose pattern is n."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.uint32), generate


@intrinsic
def prefetch(typing_context: Any, array: Any, place: Any) -> Any:
    """Ask for the line of the cache that array[place] is in; it may lie behind the end."""
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.gep(data, [arguments[1]])
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        call = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        to_read, near, of_data = number(0), number(3), number(1)
        builder.call(call, [builder.bitcast(place, byte), to_read, near, of_data])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
