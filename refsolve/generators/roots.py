"""Roots of the monotone functions behind the entropies, in longdouble: proposals."""

from collections.abc import Callable
from typing import Any

import numpy as np

from refsolve._types import Float, Floats


def log_root(z: Floats, alpha: Float) -> Any:
    """Log X of the root X of alpha X + log X = z; alpha X = W(e^(z + log alpha))."""
    if alpha == 0:
        return z
    z = np.asarray(z)
    shift = np.log(alpha)
    tau = z + shift
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        small = np.exp(np.minimum(tau, 1))
        w = np.where(tau > 1, tau - np.log(np.maximum(tau, 1)), small / (1 + small))
        w = np.maximum(w, np.finfo(w.dtype).tiny)
        for _ in range(3):  # each to the fourth power of the error before
            r = tau - w - np.log(w)
            q = 2 * (1 + w) * (1 + w + 2 * r / 3)
            w = w * (1 + r / (1 + w) * (q - r) / (q - 2 * r))
        # below e^-60 the next term of W = e^tau - e^(2 tau) is out of reach
        return np.where(tau < -60, z - small, np.where(w < 1, z - w, np.log(w) - shift))


def sum_root(tau: Float, sigma: Float) -> Any:
    """The root s in [0, 1/2] of sigma s - log(1-s) = tau, to full relative accuracy."""
    s = np.maximum(tau, 0) / (1 + sigma)  # on the right of the root; Newton stays there
    half = np.asarray(s).dtype.type(0.5)
    s = np.minimum(s, half)
    for _ in range(12):
        s = s - (sigma * s - np.log1p(-s) - tau) / (sigma + 1 / (1 - s))
        s = np.clip(s, 0, half)
    return s


def bracket(
    excess: Callable[[Any], Any], start: Float, size: Float, first: float = 1 / 16
) -> tuple[Any, Any]:
    """Both ends of a bracket, as short as rounding allows, of the root of a decreasing function.

    ``first``: the first step, as a share of the size.
    """
    step = np.maximum(size, 1) * first
    at = excess(start)
    sign = 1 if at > 0 else -1
    old, f_old = start, at
    while True:
        new = start + sign * step
        f_new = excess(new)
        if (f_new > 0) != (sign > 0):
            break
        old, f_old, step = new, f_new, step * 8
    (low, f_low), (high, f_high) = sorted([(old, f_old), (new, f_new)])
    side, spacing = 0, 2 * np.finfo(type(low)).eps * np.maximum(abs(low), abs(high))
    for turn in range(400):
        middle = low + (high - low) / 2
        if middle in (low, high):
            break
        if turn % 3 < 2 and np.isfinite(f_low) and np.isfinite(f_high) and f_low != f_high:
            share = f_low / (f_low - f_high)  # Illinois weights
            # near one end: a step beyond the root, so that the other end follows
            if share < 1 / 64:
                secant = low + np.maximum(4 * share * (high - low), spacing)
            elif share > 63 / 64:
                secant = high - np.maximum(4 * (1 - share) * (high - low), spacing)
            else:
                secant = low + share * (high - low)
            middle = secant if low < secant < high else middle
        value = excess(middle)
        if value > 0:
            low, f_low = middle, value
            f_high, side = (f_high / 2, 1) if side == 1 else (f_high, 1)
        else:
            high, f_high = middle, value
            f_low, side = (f_low / 2, -1) if side == -1 else (f_low, -1)
    return low, high
