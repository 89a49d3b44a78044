"""Directions along which the objective of a cone program falls for ever, certain to exist."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic, product
from refsolve.cones.membership import outside
from refsolve.cones.program import ConeProgram
from refsolve.cones.solving import proposal
from refsolve.cones.upper import Completion


def _descent(program: ConeProgram) -> ConeProgram:
    """What a direction of endless descent has to obey, of slope -1."""
    n = len(program.q)
    P = sp.csr_array(program.P)
    used = np.diff(P.indptr) > 0
    flat = int(used.sum())
    parts: list[Any] = [P[used], sp.csr_array(program.q[None, :]), program.rows]
    return ConeProgram(
        sp.csc_array((n, n)),
        np.zeros(n),
        sp.vstack(parts).tocsc(),
        np.concatenate((np.zeros(flat), [-1.0], np.zeros(len(program.b)))),
        zero=program.zero + flat + 1,
        nonneg=program.nonneg,
        soc=program.soc,
        exp=program.exp,
        other=program.other,
    )


def direction(program: ConeProgram) -> Array | None:
    """A direction of endless descent: Pd = 0, q'd < 0, -Ad in the cones, exactly."""
    found = proposal(_descent(program)) if np.any(program.q) else None
    if found is None:
        return None
    # on edges of the cones nothing but few digits is exact
    tries = [found.x] + [np.round(found.x * 2.0**k) / 2.0**k for k in (0, 4, 10, 20)]
    away = _homogeneous(program)
    still = np.zeros(len(program.q))
    for floats in tries:
        d = Dyadic.of(floats)
        falls = (d * Dyadic.of(program.q)).total() < 0
        if falls and product(program.P, d).zero.all() and not outside(away, floats, still).any():
            return floats
    return None


def _homogeneous(program: ConeProgram) -> ConeProgram:
    n = len(program.q)
    return ConeProgram(
        sp.csc_array((n, n)), np.zeros(n), program.A, np.zeros(len(program.b)), program.zero,
        program.nonneg, program.soc, program.exp, program.other,
    )  # fmt: skip


def ray(program: ConeProgram) -> Array | None:
    """About a direction of endless descent that is certain to exist within rounding of it."""
    if not np.any(program.q):
        return None
    found = direction(program)
    if found is None:
        directions, zero = Completion(_descent(program)), np.zeros(len(program.q))
        for margin in (1e-9, 1e-6, 1e-3):
            point = directions.completed(zero, margin)
            if point is not None:
                return point.x
    return found
