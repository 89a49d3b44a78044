"""Sound, slow algorithms for the entropies that the mutants are made from: one root, in logarithms."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import wrightomega

from verification.reference_solvers.projections import Array

EPS = float(np.finfo(float).eps)
#: Logarithm of an excess that is as good as infinite.
FAR = 1e6


def log_sum(v: Array) -> float:
    """Log of the sum of e^v, without overflow; -inf for no entries."""
    if v.size == 0 or np.max(v) == -np.inf:
        return -np.inf
    top = float(np.max(v))
    return top + float(np.log(np.exp(v - top).sum()))


def softplus(v: float) -> float:
    """log(1 + e^v)."""
    return max(v, 0.0) + float(np.log1p(np.exp(-abs(v))))


def log_root(w: Array, alpha: float) -> Array:
    """Log x of the root x of alpha x + log x = w."""
    if alpha == 0:
        return np.asarray(w, dtype=float)
    t = np.asarray(w + np.log(alpha), dtype=float)
    v = wrightomega(np.clip(t, -500.0, None)).real
    # v + log v = t: log v = t - v is accurate for small v, log(v) for large
    return np.where(t < 0, w - np.where(t < -500.0, 0.0, v), np.log(v) - np.log(alpha))


def log_cap(logs: Array, k: int) -> float:
    """Log c with sum of min(e^logs, c) = k c."""
    order = -np.sort(-logs)
    return min(log_sum(order[u:]) - float(np.log(k - u)) for u in range(k))


def point(
    b: Array, alpha: float = 0.0, rho: int = 0, k: int = 1, shared: bool = True, share: float = 0.0
) -> tuple[Array, float]:
    """Minimiser of alpha/2 (||x||^2 + rho s^2) - <b,x> + entropy, x_i <= s/k (shared) or 1/k, and 1 - s.

    ``share``: part of the multipliers' sum that counts in 1 - s; 1/k is right where caps are shares.
    """
    b = np.asarray(b, dtype=float)
    bias, part = alpha * rho, (share or 1.0 / k) if shared else 0.0

    def at(theta: float) -> tuple[Array, float, float]:
        """Logarithms of x, of 1 - s and of s for a multiplier theta of the sum."""
        logs = log_root(b - theta, alpha)
        cap = log_cap(logs, k) if shared else -float(np.log(k))
        above = np.maximum(b - theta - alpha * np.exp(min(cap, 700.0)) - cap, 0.0)
        p = float(above.sum()) if np.isfinite(above).all() else 0.0
        q = theta + part * p
        rest = float(log_root(np.array([bias - q]), bias)[0])
        return np.minimum(logs, cap), rest, log_small_sum(q, bias)

    def excess(theta: float) -> float:
        logs, rest, small = at(theta)
        if not shared:
            full = logs >= -np.log(k)
            if full.sum() >= k:
                return FAR
            # what is left for the others, without forming s
            free = float(np.log(k - full.sum()) - np.log(k))
            if full.any():
                return log_sum(np.append(logs[~full], rest)) - free
        if small < -1.0:
            return min(log_sum(logs) - small, FAR)
        return log_sum(np.append(logs, rest))

    low = high = max(float(b.max()), 0.0)
    width = 1.0
    while excess(high) > 0:
        low, high, width = high, high + width, 2 * width
    while excess(low) <= 0:
        low, width = low - width, 2 * width
    # an error of theta is a relative one of x
    theta = brentq(excess, low, high, xtol=EPS / 8, rtol=4 * EPS, maxiter=500)
    logs, rest, _ = at(theta)
    if alpha > 1 and log_sum(logs) < -1.0 and (shared or k == 1):
        # log x has the roundings of log alpha: alpha x has not
        theta = refined(theta, b, alpha, bias, k, part)
        logs, rest, _ = at(theta)
    if alpha == 0 or np.max(b - theta + np.log(alpha)) < 0:
        return np.exp(logs), float(np.exp(rest))
    # log x has lost what |log alpha| has: x itself has not
    t = b - theta + np.log(alpha)
    x = np.where(t < 0, np.exp(log_root(b - theta, alpha)), wrightomega(t).real / alpha)
    order = -np.sort(-x)
    cap = min(order[u:].sum() / (k - u) for u in range(k)) if shared else 1.0 / k
    return np.minimum(x, cap), float(np.exp(rest))


def refined(theta: float, b: Array, alpha: float, bias: float, k: int, part: float) -> float:
    """The multiplier beside ``theta`` at which alpha s is right, in these units."""
    log_alpha = float(np.log(alpha))

    def excess(at: float) -> float:
        t = b - at + log_alpha
        v = np.where(t < -500.0, 0.0, wrightomega(np.clip(t, -500.0, None)).real)
        order = -np.sort(-v)
        cap = min(float(order[u:].sum()) / (k - u) for u in range(k))
        p = float(np.maximum(t - cap - np.log(cap), 0.0).sum()) if cap > 0 else 0.0
        s = small_sum(min(max(at + part * p, 0.0), bias / 2 + float(np.log(2))), bias)
        return float(np.minimum(v, cap).sum()) - alpha * s

    reach = 1e-9 * (1.0 + abs(theta) + float(np.abs(b).max()) + log_alpha)
    low, high = theta - reach, theta + reach
    if not excess(low) > 0 > excess(high):
        return theta
    return float(brentq(excess, low, high, xtol=EPS / 8, rtol=4 * EPS, maxiter=500))


def log_small_sum(q: float, bias: float) -> float:
    """Log of the root s of bias s - log(1 - s) = q where s < 1/2; 0 beyond, -inf where q <= 0."""
    if q <= 0:
        return -np.inf
    if q > bias / 2 + np.log(2):
        return 0.0
    s = small_sum(q, bias)
    return float(np.log(s)) if s > 0 else -np.inf


def small_sum(q: float, bias: float) -> float:
    """The root s of bias s - log(1 - s) = q where s < 1/2."""
    s = q / (1 + bias)  # right of the root of a convex function
    for _ in range(100):
        step = (bias * s - np.log1p(-s) - q) / (bias + 1 / (1 - s))
        s -= step
        if step <= abs(s) * np.finfo(float).eps:
            break
    return float(s)


def margins(scores: Array, y: int, costs: Array | None) -> Array:
    """U + c over the others; no costs by default."""
    scores = np.asarray(scores, dtype=float)
    c = 0.0 if costs is None else np.asarray(costs, dtype=float)
    return np.delete(scores - scores[y] + c, y)


def value(z: Array, k: int, shared: bool, softplus: Callable[[float], float] = softplus) -> float:
    """The loss at margins z."""
    cap = log_cap(z, k) if shared else log_cap(np.append(z, 0.0), k)
    if not shared:  # the 1 of log(1 + sum) belongs to the sum that is capped, but is never capped
        tails = -np.sort(-z)
        cap = min(log_sum(np.append(tails[u:], 0.0)) - np.log(k - u) for u in range(k))
    extra = float(np.maximum(z - cap, 0.0).sum()) / k
    inner = log_sum(np.minimum(z, cap))
    return softplus(inner + extra) if shared else softplus(inner) + extra


def gradient(
    scores: Array,
    y: int,
    k: int,
    shared: bool,
    costs: Array | None,
    sample_weight: float | None,
) -> tuple[Array, float]:
    """Gradient over all classes, and 1 - s."""
    x, rest = point(margins(scores, y, costs), k=k, shared=shared)
    w = 1.0 if sample_weight is None else sample_weight
    return w * np.insert(x, y, -x.sum()), rest


def prox(v: Array, k: int, t: float, shared: bool, costs: Array | None) -> tuple[Array, float]:
    """Proximal point, and 1 - s."""
    v = np.asarray(v, dtype=float)
    x, rest = point(v + (0.0 if costs is None else costs), t, 0, k, shared)
    return v - t * x, rest


def update(
    q: Array,
    y: int,
    k_ii: float,
    C: float,
    k: int,
    shared: bool,
    costs: Array | None,
    sample_weight: float | None,
    **defect: Any,
) -> tuple[Array, float]:
    """Dual block, and 1 - s."""
    mass = C * (1.0 if sample_weight is None else sample_weight)
    if mass == 0:
        return np.zeros(len(q)), 1.0
    x, rest = point(margins(q, y, costs), mass * k_ii, 1, k, shared, **defect)
    return -mass * np.insert(x, y, -x.sum()), rest
