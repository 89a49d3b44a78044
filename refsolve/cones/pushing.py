"""Slacks pushed into their cones by one variable each: what a solver's rounding lacks (a proposal)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic, product
from refsolve.cones.membership import exp_above, violation
from refsolve.cones.program import ConeProgram


def pushed(program: ConeProgram, x: Array, passes: int = 6) -> Array:
    """Move variables so that cones which are just missed hold.

    Each violated row (or head) is mended by the variable that raises it and disturbs the fewest others.
    """
    x = x.copy()
    A = sp.csr_array(program.A)
    count = np.diff(sp.csc_array(program.A).indptr)
    tails = {rows.start: slice(rows.start + 1, rows.stop) for rows in program.second_order}
    exponentials = set(program.exponential.tolist())
    for _ in range(passes):
        if not np.all(np.isfinite(x)):
            return x
        s = Dyadic.of(program.b) - product(program.A, Dyadic.of(x))
        outside = violation(program, s)
        wrong = np.flatnonzero(outside[program.zero :] > 0) + program.zero
        if len(wrong) == 0:
            return x
        near = s.above()
        for i in wrong.tolist():
            row, lack, slope = i, float(outside[i]), None
            if i in exponentials:
                row = i + 2
                u, v, w = (s.fraction(i + j) for j in range(3))
                needed = exp_above(u / v, v) if v > 0 else np.inf
                if not np.isfinite(needed):
                    continue
                lack = float(Fraction(needed) - w)
            if i in tails:
                tail = near[tails[i]]
                with np.errstate(over="ignore"):
                    size = float(np.linalg.norm(tail))
                slope = -(tail / size) @ A[tails[i]].toarray() if 0 < size < np.inf else None
            entry = A[[row]].toarray()[0]
            rise = -entry - (slope if slope is not None else 0.0)
            able = np.flatnonzero((entry != 0) & (rise != 0))
            if len(able):
                j = able[np.argmin(count[able])]
                with np.errstate(over="ignore", invalid="ignore"):
                    x[j] += lack / rise[j] * (1 + 1e-9) + np.sign(rise[j]) * 1e-300
    return x
