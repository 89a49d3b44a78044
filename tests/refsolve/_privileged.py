"""Instances with privileged features, and the formulas of SVM+ written down naively."""

import numpy as np


def draw(n, d, s, seed, informative=True):
    """Alternating labels; the first privileged feature says how far an example is off.

    With uninformative features most instances collapse to w = 0.
    """
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    difficulty = rng.exponential(0.6, size=n)
    X = 0.3 * rng.normal(size=(n, d))
    X[:, 0] += 1.5 * y * (1 - difficulty)
    Z = rng.normal(size=(n, s))
    if informative:
        Z[:, 0] = difficulty + 0.05 * rng.normal(size=n)
    return X, y, Z


def slacks(Z, v, rho, y, eta=None, signed=False):
    """g(z_i), y_i g(z_i), and own slacks."""
    found = np.array([sum(a * b for a, b in zip(z, v, strict=True)) + rho for z in Z])
    found = y * found if signed else found
    return found if eta is None else found + eta


def primal(squared, X, y, Z, C, lam, w, b, v, rho, weight=None, eta=None, delta=0.0, **flags):
    """P and the largest violated constraint, by loops."""
    weight = np.ones(len(y)) if weight is None else weight
    xi = slacks(Z, v, rho, y, eta, flags.get("label_signed", False))
    loss = sum(c * (t * t / 2 if squared else t) for c, t in zip(C * weight, xi, strict=True))
    value = w @ w / 2 + loss + lam / 2 * (v @ v + (rho**2 if squared else 0))
    value += b**2 / 2 if flags.get("penalize_bias", False) else 0
    value += lam / (2 * delta) * (weight @ eta**2) if eta is not None else 0
    worst = 0.0
    for x, label, t, c in zip(X, y, xi, weight, strict=True):
        if c > 0:
            worst = max(worst, 1 - t - label * (w @ x + b))
            worst = max(worst, -t if flags.get("nonneg_slack", not squared) else 0)
    return value, worst


def printed_kernel(Kz, C, lam):
    """Q as the paper's (5) has it, with the 1 in Kt."""
    Kt = Kz + 1
    return (Kt - Kt @ np.linalg.inv(lam / C * np.eye(len(Kt)) + Kt) @ Kt) / lam


def dual(squared, K, y, Kz, C, lam, alpha, beta=0.0):
    """D at a feasible point without weights and variants."""
    value = alpha.sum() - (alpha * y) @ K @ (alpha * y) / 2
    if squared:
        return value - (alpha + beta) @ printed_kernel(Kz, C, lam) @ (alpha + beta) / 2
    return value - (alpha + beta - C) @ Kz @ (alpha + beta - C) / (2 * lam)
