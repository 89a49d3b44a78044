"""Naive twins of the entropy losses and their risk: loops and searches, nothing of ``fast``."""

import numpy as np
import pytest
from scipy.special import xlogy


def loss_value(u, variant, k):
    """max <u,x> - <x,log x> - (1-s) log(1-s) over Delta_k, by the number of classes at the cap."""
    order = np.sort(u)[::-1]
    value = np.nan
    for held in range(min(k, len(u) + 1)):
        rho = held / k
        rest = order[held:]
        inner = np.logaddexp.reduce(rest)
        start = rho * np.log(k) + order[:held].sum() / k
        if variant == "alpha":
            if not len(rest):
                break
            level = inner - np.log1p(-rho)
            value = np.logaddexp(0.0, start + (1 - rho) * level)
        else:
            level = np.logaddexp(0.0, inner) - np.log1p(-rho)
            value = start + (1 - rho) * level
        if not len(rest) or rest[0] <= level - np.log(k) + 1e-14:  # no entry beyond the cap
            break
    return value


def truncated_value(u, k):
    return np.logaddexp(0.0, np.logaddexp.reduce(np.sort(u)[: len(u) - k + 1]))


def primal(W, X, y, r, value):
    losses = [value(np.delete(W @ x - (W @ x)[c], c)) for x, c in zip(X, y, strict=True)]
    return 0.5 * float((W * W).sum()) + float(np.dot(r, losses))


def dual(A, X, y, r):
    W = A.T @ X
    total = -0.5 * float((W * W).sum())
    for a, c, radius in zip(A, y, r, strict=True):
        if radius > 0:
            x = -np.delete(a, c) / radius
            rest = max(1.0 - x.sum(), 0.0)
            total -= radius * float(xlogy(x, x).sum() + xlogy(rest, rest))
    return total


def check_truncated(model, X, y):
    """The convex problem of the kept classes at the model, certified by formulas."""
    f, r = X @ model.coef_.T, np.full(len(y), float(model.C))
    losses = [
        np.log(np.exp(row[kept] - row[c]).sum())
        for row, kept, c in zip(f, model.kept_, y, strict=True)
    ]
    P, D = 0.5 * (model.coef_**2).sum() + r @ losses, dual(model.dual_coef_, X, y, r)
    assert not model.dual_coef_[~model.kept_].any()
    assert pytest.approx(model.primal_objective_, rel=1e-9) == P
    assert pytest.approx(model.dual_objective_, rel=1e-9) == D
    assert (np.diff(model.truncated_objectives_) <= 0.0).all()
    found = primal(model.coef_, X, y, r, lambda u: truncated_value(u, model.k))
    assert pytest.approx(model.truncated_objectives_[-1], rel=1e-9) == found
