"""Recall at k by all sets, from the definition."""

from itertools import combinations

import numpy as np
from _naive_top_push import dense, ranked


def cut(members, y):
    """Delta(T), and the coefficients 2 (1_T - 1_pos)."""
    return 1.0 - (members & y).sum() / y.sum(), 2.0 * (members.astype(float) - y)


def sets(n, k):
    return [np.isin(np.arange(n), T) for T in combinations(range(n), k)]


def loss(s, y, k):
    """Sets of t positives: the best t of them, and the best of the negatives."""
    up, down = np.sort(s[y])[::-1], np.sort(s[~y])[::-1]
    values = [
        1 - t / len(up) + 2 * (up[:t].sum() + down[: k - t].sum() - up.sum())
        for t in range(max(0, k - len(down)), min(k, len(up)) + 1)
    ]
    return max(0.0, *values)


def check_certificate(model, X, y):
    """What a fitted estimator says of itself follows from its attributes."""
    k = (model.k or 1) * len(y) if len(model.classes_) > 2 else model.k
    X, y = ranked(model, X, y)
    X, k, w = dense(X), k or int(y.sum()), model.coef_.ravel()
    sets = model.sets_.reshape(-1, len(y))
    P = 0.5 * w @ w + model.C * loss(X @ w, y, k)
    assert model.sets_.dtype == bool
    assert (sets.sum(axis=1) == k).all()
    assert (model.dual_coef_ >= 0.0).all()
    assert model.dual_coef_.sum() <= model.C * (1 + 1e-12)
    D, v = 0.0, np.zeros(len(y))
    for weight, members in zip(model.dual_coef_, sets, strict=True):
        offset, c = cut(members, y)
        D, v = D + weight * offset, v + weight * c
    D -= 0.5 * float(np.sum((X.T @ v) ** 2))
    assert P * (1 - 1e-12) <= model.primal_objective_ <= P * (1 + 1e-9) + 1e-12
    assert D - 1e-9 * P - 1e-12 <= model.dual_objective_ <= D + 1e-12 * P
    return P, D
