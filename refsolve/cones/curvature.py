"""What is certain of a quadratic form: a diagonal d with P - diag(d) positive semidefinite."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from refsolve._types import Array
from refsolve.cones.dyadic import entries
from refsolve.cones.enclosure import EPS
from refsolve.cones.linear_systems import Factor, least_eigenvalue

#: Blocks whose semidefiniteness is asked exactly, and the largest that becomes dense.
EXACT, DENSE = 40, 4000


def curvature(P: Any) -> Array | None:
    """A diagonal that bounds the form from below, or None if it is not certain to be (nearly) convex.

    Block by block of what hangs together. A number is its own bound. A block is brought to a diagonal
    of about 1, and half its least eigenvalue is proven (`least_eigenvalue`). A block that is singular, or
    nearly, is either positive semidefinite exactly, by an LDL' in rational numbers, which gives 0; or it
    leaves a number slightly below 0: a form of floats is seldom exactly semidefinite, and what it may
    lack has to be paid for.

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
    on = row == column
    np.add.at(bound, row[on], data[on])
    if np.any(bound < 0):
        return None
    if np.all(on):
        return bound
    form = sp.csr_array((data, (row, column)), shape=(n, n))
    _, label = connected_components(form, directed=False)
    order = np.argsort(label, kind="stable")
    for block in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        if len(block) > 1:
            found = _block(form[block][:, block])
            if found is None:
                return None
            bound[block] = found
    return bound


def _block(form: Any) -> Array | None:
    diagonal = form.diagonal()
    if np.any(diagonal <= 0):
        return None
    scale = np.exp2(np.round(np.log2(diagonal) / 2))  # powers of two: no rounding
    unit = sp.diags_array(1 / scale)
    form, size = sp.csr_array(unit @ form @ unit), len(scale)
    small = size <= DENSE and (size <= 500 or form.nnz > 0.05 * size * size)
    matrix = form.toarray() if small else sp.csc_array(form)
    least = least_eigenvalue(matrix)
    if least > 0:
        return np.asarray(least * scale * scale)
    if size <= EXACT and _semidefinite(form.toarray()):
        return np.zeros(size)
    hidden = 2 * (size + 4) * EPS * size if small else 1e-13
    for lack in (3 * hidden, 1e3 * hidden):
        added = lack * (np.eye(size) if small else sp.eye_array(size))
        factor = Factor.of(matrix + added, diagonal=lack)
        if factor is not None:
            return np.asarray(-(lack + factor.error) * (1 + 4 * EPS) * scale * scale)
    return None


def _semidefinite(form: Array) -> bool:
    """Whether a matrix of floats is positive semidefinite, in rational numbers."""
    rest = [[Fraction(v) for v in row] for row in form.tolist()]
    while rest:
        pivot, *others = rest[0]
        if pivot < 0 or (pivot == 0 and any(others)):
            return False
        below = [row[1:] for row in rest[1:]]
        if pivot:
            for row, share in zip(below, others, strict=True):
                if share:
                    for j, other in enumerate(others):
                        row[j] -= share * other / pivot
        rest = below
    return True
