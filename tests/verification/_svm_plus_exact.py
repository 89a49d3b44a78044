"""SVM+ in Fractions: objectives by their definitions, the deformed kernel by elimination."""

from fractions import Fraction

import numpy as np

exact = np.vectorize(lambda v: Fraction(float(v)), otypes=[object])


def solve(A, B):
    """A^-1 B."""
    rows = np.hstack([A, B]) + Fraction(0)
    for i in range(len(A)):
        pivot = next(r for r in range(i, len(A)) if rows[r, i] != 0)
        rows[[i, pivot]] = rows[[pivot, i]]
        rows[i] = rows[i] / rows[i, i]
        for r in range(len(A)):
            if r != i and rows[r, i] != 0:
                rows[r] = rows[r] - rows[r, i] * rows[i]
    return rows[:, len(A) :]


def deformed(Kz, C, lam, weight, delta=0.0):
    """Q = (lam I + C Kt W)^-1 Kt for Kt = kz + 1 + delta W^-1; arguments are floats or Fractions."""
    n = len(Kz)
    eye = np.array([[Fraction(i == j) for j in range(n)] for i in range(n)])
    W = exact(weight)
    own = np.array([Fraction(delta) / w if w else Fraction(0) for w in W])
    Kt = Kz + Fraction(1) + own * eye
    return solve(Fraction(lam) * eye + Fraction(C) * Kt * W, Kt)


def primal(w, b, v, rho, X, y, Z, C, lam, *, loss, weight, nonneg, delta):
    """P after the least rise of rho that makes the point feasible; best own slacks."""
    W, V, b, rho, C, lam, delta = (
        exact(w), exact(v), Fraction(b), Fraction(rho), Fraction(C), Fraction(lam), Fraction(delta),
    )  # fmt: skip
    cost = C * exact(weight)
    need = 1 - exact(y) * (exact(X) @ W + b)
    need = np.maximum(need, Fraction(0)) if nonneg else need
    g = exact(Z) @ V + rho
    total = sum(W * W) / 2 + lam / 2 * sum(V * V)
    if delta == 0:
        lift = max(Fraction(0), max(need - g))
        rho, g = rho + lift, g + lift
        xi = g
    else:
        price = lam / delta * exact(weight)
        free = g * price / (cost + price) if loss == "squared_hinge" else g - cost / price
        xi = np.maximum(free, need)
        total += sum(price * (xi - g) ** 2) / 2
    if loss == "hinge":
        return total + sum(cost * xi)
    return total + sum(cost * xi * xi) / 2 + lam / 2 * rho * rho


def dual(alpha, beta, X, y, Z, C, lam, *, loss, weight, delta):
    """D; the multipliers are Fractions in its domain."""
    u = (alpha * exact(y)) @ exact(X)
    assert sum(alpha * exact(y)) == 0
    assert min(alpha) >= 0
    assert min(beta) >= 0
    Kz = exact(Z) @ exact(Z).T
    value = sum(alpha) - sum(u * u) / 2
    if loss == "squared_hinge":
        Q = deformed(Kz, C, lam, weight, delta)
        return value - (alpha + beta) @ Q @ (alpha + beta) / 2
    e = alpha + beta - Fraction(C) * exact(weight)
    assert sum(e) == 0
    return value - (e @ Kz @ e + Fraction(delta) * sum(e * e / exact(weight))) / (2 * Fraction(lam))


def feasible(alpha, beta, y, C, *, loss, weight, nonneg):
    """Multipliers moved into the domain of the dual: clipped, balanced, with the sum they need."""
    alpha = np.maximum(exact(alpha), Fraction(0))
    beta = np.maximum(exact(beta), Fraction(0)) if nonneg else 0 * alpha
    y = np.asarray(y)
    sums = {s: sum(alpha[y == s]) for s in (-1, 1)}
    for s in (-1, 1):
        if sums[s] > 0:
            alpha[y == s] *= min(sums.values()) / sums[s]
    if loss == "squared_hinge":
        return alpha, beta
    total = sum(Fraction(C) * exact(weight))
    if nonneg and sum(alpha) <= total:
        rest = beta if sum(beta) > 0 else exact(weight)
        return alpha, rest * ((total - sum(alpha)) / sum(rest))
    return alpha * (total / sum(alpha)), 0 * beta
