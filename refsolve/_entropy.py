"""Maximisers of <z,x> - h(x) for the entropies, row by row and in the dtype given.

All of it happens in logarithms: a probability may underflow, its logarithm does not. A `Point`
says where the maximiser is and carries multipliers mu >= 0 of the caps, from which the bounds on
the value follow whatever mu is; nothing here is believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Point:
    """A point p of a domain, in the form in which its divergence can be taken.

    Attributes
    ----------
    x, logs : (..., d) array
        p and log p.
    rest, log_rest : array
        1 - <1,p> (..., 1), or 1 - p (..., d), and the logarithm; None where there is none.
    mu : (..., d) array
        Multipliers of the caps x_i <= cap(x).
    upper : (...,) array
        Upper bound on the loss that mu gives.
    """

    x: Array
    logs: Array | None = None
    rest: Array | None = None
    log_rest: Array | None = None
    mu: Array | None = None
    upper: Array | None = None


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


def cap_level(z: Array, k: int, extra: Any) -> Array:
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


def maximum_alpha(z: Array, k: int) -> Point:
    """x_i <= s/k: v = log sum e^(z - mu) + <1,mu>/k for the logit of s, loss log(1 + e^v)."""
    level = cap_level(z, k, -np.inf)
    mu = np.maximum(z - level, 0)
    shift = mu.sum(axis=-1, keepdims=True) / k
    cut = np.minimum(z, level)
    v = logsumexp(cut) + shift
    loss = softplus(v)
    logs = cut + shift - loss
    x = exp(logs)
    # the caps from the other entries, so that they equal s/k to the last digit
    capped = mu > 0
    left = np.maximum(k - capped.sum(axis=-1, keepdims=True), 1)
    cap = np.where(capped, 0, x).sum(axis=-1, keepdims=True) / left
    return Point(np.where(capped, cap, x), logs, exp(-loss), -loss, mu, loss[..., 0])


def maximum_beta(z: Array, k: int) -> Point:
    """x_i <= 1/k: loss log(1 + sum e^(z - mu)) + <1,mu>/k, and log(1 - s) = -t, its first part."""
    level = cap_level(z, k, 0.0)
    mu = np.maximum(z - level, 0)
    cut = np.minimum(z, level)
    t = softplus(logsumexp(cut))
    logs = cut - t
    x = np.where(mu > 0, 1 / z.dtype.type(k), exp(logs))
    return Point(x, logs, exp(-t), -t, mu, t[..., 0] + mu.sum(axis=-1) / k)


def maximum_box(z: Array) -> Point:
    """Entry by entry, x = 1/(1 + e^-z)."""
    loss, back = softplus(z), softplus(-z)
    return Point(exp(-back), -back, exp(-loss), -loss, None, loss.sum(axis=-1))


def maximum_simplex(z: Array, target: Array) -> Point:
    """The softmax p; the loss log sum e^z - <target,z> is shifted before it is summed."""
    logs = z - logsumexp(z)
    logs = logs - logsumexp(logs)
    loss = logsumexp(z - (target * z).sum(axis=-1, keepdims=True))[..., 0]
    return Point(exp(logs), logs, None, None, None, loss)
