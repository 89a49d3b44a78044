"""Formulas in logarithms, row by row and in the dtype given: a probability may underflow, its
logarithm does not.
"""

import numpy as np

from refsolve._types import Array, Floats


def logsumexp(z: Array) -> Array:
    """Log sum e^z along the last axis, kept; -inf for no entries."""
    if z.shape[-1] == 0:
        return np.full((*z.shape[:-1], 1), -np.inf, z.dtype)
    top = z.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore", under="ignore"):
        return top + np.log(np.exp(z - top).sum(axis=-1, keepdims=True))


def softplus(v: Array) -> Array:
    """log(1 + e^v)."""
    with np.errstate(under="ignore"):
        return np.maximum(v, 0) + np.log1p(np.exp(-abs(v)))


def exp(v: Array) -> Array:
    """e^v, 0 where it underflows."""
    with np.errstate(under="ignore"):
        return np.exp(v)


def xlogx(x: Array) -> Array:
    """X log x, 0 at 0."""
    return x * np.log(np.where(x > 0, x, 1))


def divergence(x: Array, point: Array, logs: Array) -> Array:
    """X log(x/p) - x + p >= 0, entry by entry, without cancellation; inf for x > 0 = p."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        delta = np.where(point > 0, (x - point) / np.where(point > 0, point, 1), np.inf)
        near = abs(delta) < 0.01
        small = np.where(near, delta, 0)
        series = sum((-small) ** n / (n * (n - 1)) for n in range(2, 13))
        apart = np.where(x > 0, x * (np.log(np.where(x > 0, x, 1)) - logs) - x + point, point)
    return np.maximum(np.where(near, point * series, apart), 0)


def cap_level(z: Array, k: int, extra: Floats) -> Array:
    """Log c with sum_i min(e^z_i, c) + e^extra = k c: the least over u < k of a tail's share."""
    d = z.shape[-1]
    top = -np.sort(-z, axis=-1)[..., : min(k, d)]
    last = min(k - 1, d - 1) if k <= d else d
    ordered = -np.sort(-z, axis=-1)
    tail = np.logaddexp(logsumexp(ordered[..., last:]), extra)
    level = tail - np.log(z.dtype.type(k - last))
    for u in range(last - 1, -1, -1):
        tail = np.logaddexp(tail, top[..., u, None])
        level = np.minimum(level, tail - np.log(z.dtype.type(k - u)))
    return level
