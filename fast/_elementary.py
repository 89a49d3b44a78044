"""exp and log for loops over entries: free of branches and calls, so that LLVM makes SIMD of them.

numba's own go to the C library one number at a time, at five to ten times the price. Both are
accurate to about one unit of rounding; the polynomials are Chebyshev interpolants of the remainders
named beside them.
"""

from fast._numba import kernel
from fast._simd import bits, from_bits, fused, larger, smaller

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.6931471801362932  # 31 bits: its product with an exponent is exact
_LN2_LOW = 4.236521365809284e-10
_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, kept in the low bits
_HALF_ROOT = 0x3FE6A09E667F3BCD  # bits of sqrt(1/2)
_UP = 0x4000000000000000  # keeps the difference of two bit patterns nonnegative


@kernel(forceinline=True)
def _power_of_two(n):
    """2^n for a whole number -1022 <= n <= 1023 kept as a double."""
    return from_bits(bits(n + (_ROUND + 1023.0)) << 52)


@kernel(forceinline=True)
def exp(x):
    """e^x, denormal results included; arguments beyond 709 count as 709."""
    x = larger(smaller(x, 709.0), -746.0)
    n = fused(x, _LOG2_E, _ROUND) - _ROUND
    r = fused(-n, _LN2_LOW, fused(-n, _LN2_HIGH, x))
    # (e^r - 1 - r - r^2/2) / r^3 on |r| <= log(2)/2
    p = fused(r, 2.5095554677111112e-08, 2.761380686153829e-07)
    p = fused(r, p, 2.755728006701698e-06)
    p = fused(r, p, 2.4801536388690766e-05)
    p = fused(r, p, 0.0001984126985433861)
    p = fused(r, p, 0.0013888888905881542)
    p = fused(r, p, 0.008333333333332155)
    p = fused(r, p, 0.04166666666665136)
    p = fused(r, p, 0.16666666666666666)
    p = fused(r * r, fused(r, p, 0.5), r) + 1.0
    first = larger(n, -1000.0)
    return p * _power_of_two(first) * _power_of_two(n - first)


@kernel(forceinline=True)
def log_parts(x):
    """Return (a, b) with a + b = log x for a normal x > 0.

    a is a multiple of log 2, exact but for what b holds: differences to it lose nothing.
    """
    raw = bits(x)
    shifted = raw - _HALF_ROOT + _UP
    exponent = shifted >> 52  # 1024 more than that of x / sqrt(1/2)
    n = from_bits(exponent + 0x4330000000000000) - 4503599627371520.0
    f = from_bits(raw - ((exponent - 1024) << 52)) - 1.0
    s = f / (2.0 + f)
    z = s * s
    # (2 artanh(s) - 2s) / s^3 for |s| <= (sqrt(2) - 1) / (sqrt(2) + 1)
    p = fused(z, 0.14616585424888623, 0.15331710618210773)
    p = fused(z, p, 0.18182889455674947)
    p = fused(z, p, 0.22222211130259878)
    p = fused(z, p, 0.2857142862600327)
    p = fused(z, p, 0.39999999999899444)
    p = fused(z, p, 0.666666666666667)
    return n * _LN2_HIGH, fused(n, _LN2_LOW, f - s * (f - z * p))


@kernel(forceinline=True)
def log(x):
    """Natural logarithm of a normal x > 0."""
    high, low = log_parts(x)
    return high + low
