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


def sum_root(tau: Any, sigma: Any) -> Any:
    """The root s in [0, 1/2] of sigma s - log(1-s) = tau, to full relative accuracy."""
    s = np.maximum(tau, 0) / (1 + sigma)  # on the right of the root; Newton stays there
    s = np.minimum(s, np.longdouble(0.5))
    for _ in range(12):
        s = s - (sigma * s - np.log1p(-s) - tau) / (sigma + 1 / (1 - s))
        s = np.clip(s, 0, np.longdouble(0.5))
    return s


def _root(excess: Callable[[Any], Any], start: Any, size: Any) -> tuple[Any, Any]:
    """Both ends of a bracket, as short as rounding allows, of the root of a decreasing function."""
    step = np.maximum(size, 1) / 16
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
    side, spacing = 0, 2 * np.finfo(np.longdouble).eps * np.maximum(abs(low), abs(high))
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


class TopK:
    """The entropy of (x, 1 - s) on a top-k simplex, r = 1; b is one vector.

    alpha variant: log c = level of the caps, mu_i = (b_i - t - alpha c - log c)_+, and
    sigma y + log y = sigma - t - <1,mu>/k; beta: c = 1/k and sigma y + log y = sigma - t. In both
    x_i = min(X(b_i - t), c) and y = 1 - s fixes t.
    """

    def __init__(self, b: Array, alpha: Any, sigma: Any, k: int, beta: bool) -> None:
        self.b, self.alpha, self.sigma, self.k, self.beta = b, alpha, sigma, k, beta
        self.size = abs(b).max() + np.log(np.longdouble(b.size + 1)) + k
        self.size += abs(np.log(alpha)) if alpha > 0 else 0
        self.low, self.high = _root(self._excess, b.max() - alpha / b.size, self.size)

    def _at(self, t: Any) -> tuple[Array, Any, Any]:
        """Log x, sigma s - log(1-s), and log y for a multiplier t."""
        free = log_root(self.b - t, self.alpha)
        k = np.longdouble(self.k)
        level = -np.log(k) if self.beta else _entropy.cap_level(free, self.k, -np.inf)[0]
        tau = t
        if not self.beta:
            with np.errstate(over="ignore"):
                cap = self.alpha * np.exp(level) if self.alpha > 0 else 0
            capped = np.where(free > level, self.b - t - cap - level, 0)
            tau = tau + np.maximum(capped, 0).sum() / k
        if self._small(tau):
            log_y = np.log1p(-sum_root(tau, self.sigma))
        else:
            log_y = log_root(self.sigma - tau, self.sigma)
        return np.minimum(free, level), tau, log_y

    def _small(self, tau: Any) -> Any:
        """Whether s <= 1/2, where 1 - y would lose the digits of s."""
        return tau <= self.sigma / 2 + np.log(np.longdouble(2))

    def _excess(self, t: Any) -> Any:
        """A number with the sign of <1,x> + y - 1, which decreases in t."""
        logs, tau, log_y = self._at(t)
        if self._small(tau):
            if tau <= 0:
                return np.longdouble(np.inf)
            return _entropy.logsumexp(logs)[0] - np.log(sum_root(tau, self.sigma))
        if not self.beta:
            return np.logaddexp(_entropy.logsumexp(logs)[0], log_y)
        # u caps of 1/k: what is left for the rest is (k - u)/k, without the cancellation of 1 - u/k
        capped = logs >= -np.log(np.longdouble(self.k))
        left = self.k - int(capped.sum())
        if left <= 0:
            return np.longdouble(np.inf)
        rest = np.logaddexp(_entropy.logsumexp(logs[~capped])[0], log_y)
        return rest - np.log(left / np.longdouble(self.k))

    def point(self) -> tuple[Array, Any]:
        """The minimiser x and 1 - s, scaled to sum to 1."""
        logs, tau, log_y = self._at(self.low + (self.high - self.low) / 2)
        x, y = _entropy.exp(logs), _entropy.exp(log_y)
        capped = logs >= logs.max()
        left = self.k - int(capped.sum())
        share = np.where(capped, 0, x).sum() / left if left > 0 else np.longdouble(0)
        if not self.beta and abs(share - x.max()) <= 1e-12 * share:  # s/k to the last digit
            x = np.where(capped, share, x)
        if self._small(tau):
            return x, 1 - x.sum()
        if self.beta:
            return x, y
        total = x.sum() + y
        return x / total, y / total

    def complement(self) -> tuple[Any, Any]:
        """Bounds on log(1 - s), the bracket being widened by the rounding of the function."""
        noise = 32 * np.finfo(np.longdouble).eps * (self.size + abs(self.low))
        low, high = self._at(self.high + noise)[2], self._at(self.low - noise)[2]
        # sigma - tau loses digits of sigma only while s > 1/2, when tau is as large
        return low - noise, high + noise


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
