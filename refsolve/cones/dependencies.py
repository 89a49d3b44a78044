"""Equations that follow from others, or contradict them: exact combinations of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpstrf

from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic, product, up
from refsolve.cones.linear_systems import Factor, Unproven, by_diagonal, power_of_two, square

#: Distance of a row from the span of others, squared and relative, that may be rounding.
ROUNDED = 1e-9


@dataclass(frozen=True)
class Dependencies:
    """Which equations are needed.

    Attributes
    ----------
    kept : array of int
        Rows of which the others are combinations, exactly.
    contradiction : float
        The largest amount by which a combination's constant is off; 0 where all agree.
    share : float
        The same relative to the numbers in that combination.
    """

    kept: Array
    contradiction: float = 0.0
    share: float = 0.0


def dependencies(A: Any, b: Array) -> Dependencies | None:
    """Rows of Ax = b that are exact combinations of others with few digits; None if there are none.

    Rows for which no such combination was found stay.
    """
    A = sp.csr_array(A)
    size = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
    if not A.shape[0] > 1:
        return None
    unit = power_of_two(np.where(size > 0, size, 1.0))
    G = sp.csr_array(sp.diags_array(1 / unit) @ A)
    try:
        keep = _independent(square(G))
        drop = np.setdiff1d(np.arange(len(b)), keep)
        factor = Factor.of(square(G[keep])) if len(drop) else None
    except Unproven:
        return None
    if factor is None:
        return None
    columns, constants = sp.csc_array(A[keep].T), Dyadic.of(b)
    stay, contradiction, relative = keep.tolist(), 0.0, 0.0
    for row in drop.tolist():
        mixed = factor.solve(G[keep] @ G[[row]].toarray().ravel()) * unit[row] / unit[keep]
        share = np.round(mixed * 2.0**12) / 2.0**12
        used = np.flatnonzero(share)
        few = Dyadic.of(share[used])
        rest = product(columns[:, used], few) - Dyadic.of(A[[row]].toarray().ravel())
        if not rest.zero.all():
            stay.append(row)
            continue
        parts = few * constants[keep[used]]
        off = abs(parts.total() - constants.fraction(row))
        if off:
            sizes = Dyadic(np.abs(parts.numbers), parts.bits).total() + abs(constants.fraction(row))
            contradiction = max(contradiction, up(off))
            relative = max(relative, up(off / sizes))
    if len(stay) == A.shape[0]:
        return None
    return Dependencies(np.sort(np.array(stay, dtype=int)), contradiction, relative)


def _independent(M: Any) -> Array:
    """Rows of which the others are combinations, about, from the pivots of their products."""
    if isinstance(M, np.ndarray):
        _, order, rank, _ = dpstrf(M, tol=ROUNDED)
        return np.sort(order[:rank] - 1)
    # a component of k rows adds up k shifts in its last pivot
    found = by_diagonal(M + ROUNDED / 1e5 * sp.eye_array(M.shape[0]))
    if found is None:
        return np.arange(M.shape[0])
    return np.flatnonzero(found.U.diagonal()[found.perm_c] > ROUNDED)
