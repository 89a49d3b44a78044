"""What is certain of a quadratic form: a diagonal d with P - diag(d) positive semidefinite."""

from __future__ import annotations

from typing import Any

import numpy as np

from refsolve._types import Array
from refsolve.cones.dyadic import entries

#: Largest support of P whose eigenvalues are looked at.
LARGEST = 3000


def curvature(P: Any) -> Array | None:
    """A diagonal that bounds the form from below, or None if it is not certain to be (nearly) convex.

    A diagonal P is its own bound. Another one is brought to a diagonal near 1 first; lam I <= P on its
    support is tried with half the computed least eigenvalue, and believed if a floating-point Cholesky
    factorisation of P - lam I, its diagonal lowered by more than rounding can hide, goes through (Rump,
    "Verification of positive definiteness", BIT 2006, Theorem 2.3). A singular P leaves a lam slightly
    below 0: a form of floats is seldom exactly semidefinite, and what it may lack has to be paid for.

    Parameters
    ----------
    P : (n, n) matrix, symmetric

    Returns
    -------
    (n,) array or None
    """
    n = P.shape[0]
    row, column, data = entries(P)
    bound = np.zeros(n)
    if np.all(row == column):
        np.add.at(bound, row, data)
        return bound if np.all(bound >= 0) else None
    support = np.unique(row)
    size = len(support)
    if size > LARGEST:
        return None
    place = np.full(n, -1)
    place[support] = np.arange(size)
    form = np.zeros((size, size))
    np.add.at(form, (place[row], place[column]), data)
    diagonal = np.diag(form)
    if np.any(diagonal <= 0):
        return None
    scale = np.exp2(np.round(np.log2(diagonal) / 2))  # powers of two: no rounding
    form = form / scale[:, None] / scale
    hidden = 2 * (size + 4) * np.finfo(float).eps * float(np.trace(form)) + 1e-290
    least = float(np.linalg.eigvalsh(form)[0])
    for lam in (least / 2, -4 * hidden, -1e3 * hidden):
        if lam > 0 or -1e3 * hidden <= lam < -2 * hidden:
            try:
                np.linalg.cholesky(form - (lam + hidden) * np.eye(size))
            except np.linalg.LinAlgError:
                continue
            bound[support] = lam * scale * scale
            return bound
    return None
