"""Minimisers of alpha/2 ||x||^2 + sigma/2 s^2 - <b,x> + h(x) for the entropies h: proposals.

Each is one root of one monotone function, found by a bracketed secant in logarithms; prox
(sigma = 0) and SDCA update (sigma = alpha) are two cases, alpha = sigma = 0 is the loss. With the
signs of the function on both sides of the root, 1 - s is enclosed however small it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from refsolve import _entropy
from refsolve import _formulas as f

Array = np.ndarray[Any, Any]


def log_root(z: Any, alpha: Any) -> Any:
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
        for _ in range(4):
            r = tau - w - np.log(w)
            q = 2 * (1 + w) * (1 + w + 2 * r / 3)
            w = w * (1 + r / (1 + w) * (q - r) / (q - 2 * r))
        # below e^-60 the next term of W = e^tau - e^(2 tau) is out of reach
        return np.where(tau < -60, z - small, np.where(w < 1, z - w, np.log(w) - shift))


def _root(excess: Callable[[Any], Any], start: Any, size: Any) -> tuple[Any, Any]:
    """Both ends of a bracket, as short as rounding allows, of the root of a decreasing function."""
    step = np.maximum(size, 1) * np.finfo(np.longdouble).eps * 2**20
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
    side = 0
    for turn in range(400):
        middle = low + (high - low) / 2
        if middle in (low, high):
            break
        if turn % 3 < 2 and np.isfinite(f_low) and np.isfinite(f_high) and f_low != f_high:
            secant = low + (high - low) * (f_low / (f_low - f_high))  # Illinois weights
            middle = secant if low < secant < high else middle
        value = excess(middle)
        if value > 0:
            low, f_low = middle, value
            f_high, side = (f_high / 2, 1) if side == 1 else (f_high, 1)
        else:
            high, f_high = middle, value
            f_low, side = (f_low / 2, -1) if side == -1 else (f_low, -1)
    return low, high


class TopK:
    """The entropy of (x, 1 - s) on a top-k simplex, r = 1; b is one vector.

    alpha variant: log c = level of the caps, mu_i = (b_i - t - alpha c - log c)_+, and
    sigma y + log y = sigma - t - <1,mu>/k; beta: c = 1/k and sigma y + log y = sigma - t. In both
    x_i = min(X(b_i - t), c) and y = 1 - s fixes t.
    """

    def __init__(self, b: Array, alpha: Any, sigma: Any, k: int, beta: bool) -> None:
        self.b, self.alpha, self.sigma, self.k, self.beta = b, alpha, sigma, k, beta
        self.size = abs(b).max() + alpha + sigma + np.log(np.longdouble(b.size + 1))
        self.low, self.high = _root(self._excess, b.max() - alpha / b.size, self.size)

    def _at(self, t: Any) -> tuple[Array, Any, Any]:
        """Log x, log c and log y for a multiplier t."""
        free = log_root(self.b - t, self.alpha)
        k = np.longdouble(self.k)
        level = -np.log(k) if self.beta else _entropy.cap_level(free, self.k, -np.inf)[0]
        rest = self.sigma - t
        if not self.beta:
            with np.errstate(over="ignore"):
                capped = np.where(free > level, self.b - t - self.alpha * np.exp(level) - level, 0)
            rest = rest - np.maximum(capped, 0).sum() / k
        return np.minimum(free, level), level, log_root(rest, self.sigma)

    def _excess(self, t: Any) -> Any:
        """Log(s + y), decreasing in t."""
        logs, _, log_y = self._at(t)
        return np.logaddexp(_entropy.logsumexp(logs)[0], log_y)

    def point(self) -> tuple[Array, Any]:
        """The minimiser x and 1 - s, scaled to sum to 1."""
        logs, _, log_y = self._at(self.low + (self.high - self.low) / 2)
        x, y = _entropy.exp(logs), _entropy.exp(log_y)
        total = x.sum() + y
        return x / total, y / total

    def complement(self) -> tuple[Any, Any]:
        """Bounds on log(1 - s), the bracket being widened by the rounding of the function."""
        noise = 32 * np.finfo(np.longdouble).eps * (self.size + abs(self.low))
        return self._at(self.high + noise)[2] - noise, self._at(self.low - noise)[2] + noise


def box(b: Array, alpha: Any) -> tuple[Array, Array]:
    """Binary entropy: alpha x + log x - log(1-x) = b entry by entry; x and 1 - x."""

    def below(v: Array) -> Array:
        return alpha * _entropy.exp(-_entropy.softplus(-v)) + v < b

    v = f.bisect(below, b - alpha, b) if alpha > 0 else b
    return _entropy.exp(-_entropy.softplus(-v)), _entropy.exp(-_entropy.softplus(v))


def simplex(b: Array, alpha: Any) -> Array:
    """Entropy of p in the probability simplex: alpha p + log p = b - t."""

    def excess(t: Any) -> Any:
        return _entropy.logsumexp(log_root(b - t, alpha))[0]

    low, high = _root(excess, b.max(), abs(b).max() + alpha)
    p = _entropy.exp(log_root(b - low - (high - low) / 2, alpha))
    return p / p.sum()
