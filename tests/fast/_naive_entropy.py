"""Entropies in 40 digits: capped sets by trying all, the dual problem by bisection; its KKT system."""

from decimal import Decimal, getcontext

import numpy as np

getcontext().prec = 40
ONE = Decimal(1)


def exact(values):
    return [Decimal(float(v)) for v in values]


def xlogx(v):
    return v * v.ln() if v > 0 else Decimal(0)


def log1p(v):
    """log(1 + v), also where 1 + v rounds to 1."""
    return (1 + v).ln() if v > Decimal(10) ** -12 else v - v**2 / 2 + v**3 / 3


def dual_value(u, x, rest):
    """<u,x> less the conjugate of softmax."""
    inner = sum(a * b for a, b in zip(u, x, strict=True))
    return inner - sum(map(xlogx, x)) - xlogx(rest)


def closed(variant, u, k):
    """The loss, its gradient and 1 - s: the best of all numbers of capped entries that fit."""
    u = exact(u)
    order = sorted(range(len(u)), key=lambda i: -u[i])
    best = None
    for n in range(min(k, len(u) + (variant == "beta"))):
        rho = Decimal(n) / k
        capped = [Decimal(0), *(u[i] for i in order[:n])]
        mass = sum((u[i].exp() for i in order[n:]), Decimal(0))
        x = [Decimal(0)] * len(u)
        if variant == "alpha":
            odds = (sum(capped) / k).exp() * Decimal(k) ** rho * (mass / (1 - rho)) ** (1 - rho)
            rest = 1 / (1 + odds)
            cap = odds * rest / k
            factor = odds * rest * (1 - rho) / mass
        else:
            rest = (1 - rho) / (1 + mass)
            cap, factor = ONE / k, rest
        for place, i in enumerate(order):
            x[i] = cap if place < n else factor * u[i].exp()
        if all(v <= cap * (1 + Decimal(10) ** -30) for v in x) or n == k - 1 == 0:
            total = dual_value(u, x, rest)
            if variant == "alpha" or n == 0:  # the same without cancellation
                total = log1p(odds if variant == "alpha" else mass)
            if best is None or total > best[0]:
                best = total, x, rest
    return best


def root(z, a):
    """The x with a x + log x = z."""
    log_x = z if z < 0 or a == 0 else min(z, max((z / a).ln(), -z))
    for _ in range(500):
        e = a * log_x.exp()
        step = (z - e - log_x) / (1 + e)
        log_x += step
        if abs(step) < Decimal(10) ** -33:
            return log_x.exp()
    raise AssertionError((z, a))


def _dual_variables(variant, b, k, a, rho, t):
    """Minimiser x and y = 1 - s for a given t."""
    x = [root(v - t, a) for v in b]
    p = Decimal(0)
    cap = ONE / k
    if variant == "alpha":
        descending = sorted(x, reverse=True)
        for n in range(k):
            cap = sum(descending[n:]) / (k - n)
            if descending[n] <= cap:
                break
        p = sum((v - t - a * cap - cap.ln() for v in sorted(b, reverse=True)[:n]), Decimal(0))
    own = t + p / k
    if rho:
        y = root(a - own, a)
    else:
        y = (-max(own, Decimal(-1000))).exp()
    return [min(v, cap) for v in x], y


def solve(variant, b, k, a, rho):
    """argmin of a/2 (<x,x> + rho s^2) - <b,x> + <x,log x> + (1-s) log(1-s) over Delta_k(1).

    Returns x and 1 - s. Where 1 - s is below 1e-15, it is left out of the equation for t.
    """
    b, a = exact(b), Decimal(float(a))
    for own in (1, 0):
        wide = max(map(abs, b)) + a + 10 * len(b)
        low, high = -wide, wide
        while high - low > Decimal(10) ** -32 * max(1, abs(low)):
            t = (low + high) / 2
            x, y = _dual_variables(variant, b, k, a, rho, t)
            if sum(x) + own * y >= 1:
                low = t
            else:
                high = t
        if y > Decimal(10) ** -15:
            break
    return x, y


def check_optimal(variant, b, k, a, rho, x, y):
    """Assert the KKT system of ``solve`` at x and y = 1 - s, up to rounding of the exponents.

    x_i = min(X(b_i - t), cap) with one t for all, which is also that of y, and x, y sum to 1.
    """
    s = x.sum()
    unit = 64 * np.finfo(float).eps * max(1, np.abs(b).max(), a)
    cap = s / k if variant == "alpha" else 1 / k
    assert abs(s + y - 1) <= unit
    assert x.min() >= 0
    assert x.max() <= cap * (1 + 1e-13)
    on = x > 1e-290
    level = b[on] - a * x[on] - np.log(x[on])  # t, or more at a cap
    free = (x[on] < cap * (1 - 1e-9)) | (k == 1)
    if not free.any():
        return
    t = np.median(level[free])
    assert np.abs(level[free] - t).max() <= unit
    assert (level >= t - unit).all()
    if y > 1e-290:
        p = np.sum(level[~free] - t) if variant == "alpha" else 0.0
        assert abs(a * rho * s - np.log(y) - p / k - t) <= 4 * unit
