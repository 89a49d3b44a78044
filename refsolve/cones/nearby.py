"""Exact solutions of linear systems whose existence is proven near a computed one.

With R about the inverse of a square B and ||I - RB|| < 1 the system Bx = t has one solution, and it is
within ||R (t - Bx0)|| / (1 - ||I - RB||) of any x0 (in the maximum norm). Everything is computed in
floats with bounds on rounding, but the residual t - Bx0, which is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic, product

#: Largest dense system.
LARGEST = 2500


class Unproven(Exception):
    """No solution could be proven to exist; the message says why."""


def solution_near(system: Any, target: Dyadic, weight: Array) -> tuple[Dyadic, Array]:
    """A point x and eta >= 0 so that ``system @ y = target`` for some y with |y - x| <= eta.

    Parameters
    ----------
    system : (p, m) sparse matrix
    target : Dyadic
        Right-hand side, (p,).
    weight : (m,) array
        How welcome it is that an unknown moves, > 0; unknowns of small weight are kept at 0.

    Raises
    ------
    Unproven
        The rows are dependent, or too many, or too badly scaled.
    """
    p, m = system.shape
    if p == 0:
        return Dyadic.of(np.zeros(m)), np.zeros(m)
    own = _own_unknowns(system, target, weight)
    if len(own):
        return _eliminated(system, target, weight, own)
    if p > LARGEST:
        raise Unproven(f"{p} unknown residuals are more than the {LARGEST} that are tried")
    if m < p:
        raise Unproven(f"{p} equations have only {m} unknowns with room to move")
    chosen = _columns(system, weight, p)
    B = system.tocsc()[:, chosen].toarray()
    scale = 1.0 / np.maximum(np.abs(B).max(axis=1), np.finfo(float).tiny)
    scale = np.exp2(np.round(np.log2(scale)))  # powers of two: no rounding
    B = B * scale[:, None]
    try:
        R = np.linalg.inv(B)
    except np.linalg.LinAlgError:
        raise Unproven("the equations are dependent") from None
    eps = np.finfo(float).eps
    size = np.abs(R) @ np.abs(B)
    error = np.abs(np.eye(p) - R @ B) + 4 * (p + 4) * eps * (size + np.eye(p))
    contraction = float(error.sum(axis=1).max()) * (1 + 4 * (p + 4) * eps)
    if not contraction < 0.5:
        raise Unproven("the equations are too nearly dependent to be certain of a solution")
    powers = Dyadic.of(scale)
    x = Dyadic.of(np.zeros(p))
    for _ in range(3):  # each step gains about sixteen digits, the residual being exact
        residual = powers * (target - product(system.tocsc()[:, chosen], x))
        x = x + Dyadic.of(R @ _rounded(residual))
    residual = powers * (target - product(system.tocsc()[:, chosen], x))
    bound = np.maximum(residual.above(), (-residual).above())
    reach = np.abs(R) @ bound * (1 + 4 * (p + 4) * eps)
    eta = np.zeros(m)
    eta[chosen] = float(reach.max()) / (1 - contraction) * (1 + 1e-14)
    numbers = np.zeros(m, dtype=object)
    numbers[chosen] = x.numbers
    return Dyadic(numbers, x.bits), eta


def _rounded(values: Dyadic) -> Array:
    return values.above()


def _columns(system: Any, weight: Array, p: int) -> Array:
    """Columns that make a well-conditioned square of size p, heavy ones first (a proposal)."""
    from scipy.linalg import qr

    dense = system.toarray() * weight
    _, _, order = qr(dense, mode="economic", pivoting=True)
    return np.sort(order[:p])


def _own_unknowns(system: Any, target: Dyadic, weight: Array) -> Array:
    """Pairs (equation, unknown) where the unknown is in that equation alone, with coefficient 2^j.

    Only unknowns that have far more room than the equation asks of them.
    """
    columns = system.tocsc()
    alone = np.flatnonzero(np.diff(columns.indptr) == 1)
    rows, data = columns.indices[columns.indptr[alone]], columns.data[columns.indptr[alone]]
    mantissa, _ = np.frexp(np.abs(data))
    needed = np.abs(_rounded(target))[rows] / np.abs(data)
    good = (mantissa == 0.5) & (weight[alone] > 1e3 * needed)
    rows, alone = rows[good], alone[good]
    order = np.argsort(-weight[alone], kind="stable")
    _, first = np.unique(rows[order], return_index=True)
    return np.stack((rows[order][first], alone[order][first]), axis=1)


def _eliminated(system: Any, target: Dyadic, weight: Array, own: Array) -> tuple[Dyadic, Array]:
    """The other equations first; each of these then has an unknown of its own, found without rounding."""
    p, m = system.shape
    rows = system.tocsr()
    others = np.setdiff1d(np.arange(p), own[:, 0])
    kept = np.setdiff1d(np.arange(m), own[:, 1])
    part, near = solution_near(rows[others][:, kept], target[others], weight[kept])
    numbers, eta = np.zeros(m, dtype=object), np.zeros(m)
    numbers[kept], eta[kept] = part.numbers, near
    x = Dyadic(numbers, part.bits)
    left = (target - product(rows, x))[own[:, 0]]
    coefficient = system.tocsc()
    a = coefficient.data[coefficient.indptr[own[:, 1]]]
    change = left * Dyadic.of(1.0 / a)
    whole = np.zeros(m, dtype=object)
    whole[own[:, 1]] = change.numbers
    reach = (abs(rows) @ eta)[own[:, 0]] / np.abs(a)
    eta[own[:, 1]] = reach * (1 + 4 * (m + 4) * np.finfo(float).eps)
    return x + Dyadic(whole, change.bits), eta
