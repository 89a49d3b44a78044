"""The top-k simplex of the first kind: x >= 0, s <= r and no entry above s/k."""

from __future__ import annotations

import numpy as np

from .._numba import REORDER, kernel
from ._kernels import STEPS, below, distances, split_top, uncapped_row, write_clipped, write_zero


@kernel(fastmath=REORDER)
def project_row(a, k, r, rho, x, work):
    """x = argmin ||x - a||^2 + rho <1,x>^2 over {x >= 0, s <= r, x_i <= s/k}; returns s = <1,x>.

    ``a``, ``x`` (may be the same array) and ``work`` are float64 with d entries; r may be inf.
    The solution is x = clip(a - t, 0, u) with F(t) = F(t + u), F(v) = kv + sum (a - v)_+. From the
    k-th largest entry measure B >= 0 upwards (top k) and A >= 0 downwards (rest): then
    sum (p - B)_+ = sum (q - A)_+ with q = a_[k] - t and p = u - q. For guessed active sets (n
    entries B < p, m entries A < q) both equations for (q, u) are linear. Guessing again from
    (p, q) makes the common value of the two sums grow, so that the right sets are met after
    finitely many steps, without any bracket or tolerance.
    """
    d = a.shape[0]
    if k == 1:
        return uncapped_row(a, r, rho, False, x, work)
    if k > d or not r > 0.0:
        return write_zero(x)
    cap = r / k
    number = split_top(a, k, cap, work)
    top, rest = work[:k], work[k : k + number]
    total = 0.0
    for i in range(k):
        total += top[i]
    kappa = k + rho * k * k
    u = min(total / kappa, cap)
    if not u > 0.0:
        return write_zero(x)
    pivot, gap = distances(top, rest)
    if gap >= u:  # the cap binds the whole top, and nothing below it is reached
        return write_clipped(a, pivot, u, u, x)
    n, b, outer = below(top, np.nextafter(0.0, 1.0))
    m, g, _ = below(rest, np.nextafter(gap, np.inf))
    excess = rho * k * k
    q = u
    for _ in range(STEPS):
        loose = excess + (k - n)
        q = (n * (k * pivot + outer) - loose * (b - g)) / (n * n + loose * (n + m))
        u = ((n + m) * q + (b - g)) / n
        if not u <= cap:
            u = cap
            q = (n * u - b + g) / (n + m)
        if not u > q:
            break
        n_new, b, outer = below(top, u - q)
        m_new, g, _ = below(rest, q)
        if n_new == n and m_new == m:
            break
        n, m = n_new, m_new
    return write_clipped(a, pivot, q, u, x)
