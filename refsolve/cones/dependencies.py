"""Equations that follow from others, or contradict them: exact combinations of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr

from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic, product, up

#: Most equations that are looked at.
LARGEST = 2000


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
    if not 1 < A.shape[0] <= LARGEST:
        return None
    R, order = qr(A.toarray().T, mode="r", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int(np.sum(size > 1e-11 * size.max(initial=0.0)))
    if rank == A.shape[0]:
        return None
    keep, drop = np.sort(order[:rank]), np.sort(order[rank:])
    mixed = np.linalg.lstsq(A[keep].toarray().T, A[drop].toarray().T, rcond=None)[0]
    columns, constants = sp.csr_array(A[keep].T), Dyadic.of(b)
    stay, contradiction, relative = keep.tolist(), 0.0, 0.0
    for j, row in enumerate(drop.tolist()):
        share = Dyadic.of(np.round(mixed[:, j] * 2.0**12) / 2.0**12)
        rest = product(columns, share) - Dyadic.of(A[[row]].toarray().ravel())
        if not rest.zero.all():
            stay.append(row)
            continue
        parts = share * constants[keep]
        off = abs(parts.total() - constants.fraction(row))
        if off:
            sizes = Dyadic(np.abs(parts.numbers), parts.bits).total() + abs(constants.fraction(row))
            contradiction = max(contradiction, up(off))
            relative = max(relative, up(off / sizes))
    if len(stay) == A.shape[0]:
        return None
    return Dependencies(np.sort(np.array(stay, dtype=int)), contradiction, relative)
