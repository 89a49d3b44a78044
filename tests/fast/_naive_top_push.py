"""TopPush as the formulas say it, by loops."""

import numpy as np
import scipy.sparse as sp


def dense(X):
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)


def mapped(X, labels, m):
    """Rows Phi_y(x_i), x_i in the y-th of m blocks, and whether y is the label of x_i."""
    rows = [sp.block_diag([x[None]] * m) for x in dense(X)]
    own = [y == label for label in labels for y in range(m)]
    return sp.csr_array(sp.vstack(rows)), np.array(own)


def primal(w, X, y, C):
    s = dense(X) @ w
    top = max(s[j] for j in range(len(y)) if not y[j])
    hinges = [max(0.0, 1.0 + top - s[i]) for i in range(len(y)) if y[i]]
    return 0.5 * float(w @ w) + C * sum(h * h for h in hinges)


def dual(multipliers, X, y, C):
    alpha = multipliers[y]
    assert (multipliers >= 0.0).all()
    assert abs(alpha.sum() - multipliers[~y].sum()) <= 1e-12 * alpha.sum()
    v = dense(X).T @ np.where(y, multipliers, -multipliers)
    return float(alpha.sum() - (alpha**2).sum() / (4.0 * C) - 0.5 * v @ v)


def check_result(found, X, y, C):
    """P and D are those of w and of the multipliers, and the gap lies between them."""
    P, D = primal(found.w, X, y, C), dual(found.multipliers, X, y, C)
    size = 1e-11 * max(P, found.multipliers.sum())
    assert abs(found.primal - P) <= size
    assert abs(found.dual - D) <= size
    assert found.gap == (found.primal - found.dual) / found.primal or found.gap <= 1e-15
