"""W(e^t): the root w > 0 of w + log w = t, for every real t.

W is Lambert's function; W(e^t) is what scipy calls the Wright omega function, on the reals. It is
close to e^t for t << 0 and to t - log t for t >> 0, and neither overflows nor underflows on the way.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fast._elementary import exp, log, log_parts
from fast._numba import kernel
from fast._rows import all_done
from fast._simd import choose, fused, larger, smaller
from fast._validation import raise_bad_entry, real_array

_SMALL = -40.0  # below, w = e^t (1 - e^t + ...) is e^t
_LARGE = 1e18  # above, log t is less than half a unit of rounding of t


@kernel(forceinline=True)
def _improved(x, a, z):
    """One step of Fritsch, Shafer and Crowley (1973) for a x + log x = z: of order four.

    The residual is a difference to the exact part of log x, so that it stays accurate where w is
    tiny and log x is not.
    """
    high, low = log_parts(x)
    w = a * x
    r = ((z - high) - w) - low
    one = 1.0 + w
    q = 2.0 * one * fused(2.0 / 3.0, r, one)
    return fused(x, r * (q - r) / (one * (q - 2.0 * r)), x)


@kernel(forceinline=True)
def root(z, a, log_a):
    """The x > 0 with a x + log x = z, which is W(e^t)/a with t = z + log a; a = 1 gives W(e^z).

    For 1e-17 <= a <= 1e100; the relative error of x is a few units of rounding. No branches: a loop
    of calls is SIMD code.
    """
    small = exp(smaller(z, 1.0 - log_a))
    far = z + log_a
    z = larger(smaller(z, 2.0 * _LARGE), 2.0 * _SMALL - log_a)  # no inf - inf where it is unused
    t = z + log_a
    # Start, to 5 %: a rational function of e = e^t below 0.5, t - log t + log(t)/(1 + t) above.
    e = a * small
    up = larger(smaller(t, _LARGE), 0.5)
    one = 1.0 + up
    h = log(up)
    upper = t > 0.5
    numerator = choose(upper, fused(up - h, one, h), e * fused(4.0 / 3.0, e, 1.0))
    denominator = choose(upper, one, fused(fused(5.0 / 6.0, e, 7.0 / 3.0), e, 1.0))
    x = numerator / (denominator * a)
    x = _improved(_improved(x, a, z), a, z)
    x = choose(far > _LARGE, far / a, x)
    return choose(far < _SMALL, small, x)


@kernel
def scalar(t):
    """W(e^t) of one number: for use in other kernels."""
    return root(t, 1.0, 0.0)


@kernel
def fill(t, w):
    """Write w = W(e^t) entry by entry."""
    for i in range(t.shape[0]):
        w[i] = root(t[i], 1.0, 0.0)


def value(t: ArrayLike) -> Any:
    """Compute W(e^t), the root w of w + log w = t, entry by entry.

    The relative error is below 4e-15 (measured: 2e-16) for every t; where the result is below
    2.2e-308, the error is one unit of the subnormal numbers.

    Parameters
    ----------
    t : array_like
        Real numbers (a number, a vector or a matrix), of any finite size; float64, float32 or integers (computed as
        float64). Never changed.

    Returns
    -------
    float or ndarray
        As ``t`` in shape and dtype.

    Raises
    ------
    fast.errors.InvalidParameterError
        An entry that is nan or infinite, or no real number.
    """
    given = real_array("t", t, (0, 1, 2))
    raise_bad_entry("t", given, limit=float(np.finfo(np.float64).max))
    flat = np.array(given, dtype=np.float64).ravel()
    all_done(flat[:, np.newaxis], lambda part: fill(flat[part], flat[part]) is None)
    return flat.reshape(given.shape).astype(given.dtype)[()]


def _warmup() -> None:
    value(np.zeros(2))
