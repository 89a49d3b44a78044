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
